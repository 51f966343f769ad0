/** Installs the agent from this control plane and joins it; it asks for the folder and the token. */
export function installLine({ origin }: { origin: string }): string {
  return `curl -fsSL ${origin}/install.sh | sudo sh`;
}

/**
 * Returns the commands that bring an agent to a robot, in the order in which they are run: of its package, or in a checkout. Enrolling asks
 * for the token, so that no history keeps it.
 */
export function enrollCommands({ origin }: { origin: string }, from: "package" | "checkout"): string {
  const enroll = `agent enroll --url ${origin} --storage-root /data`;
  const commands =
    from === "package"
      ? ["sudo apt-get install ./downlink-agent_*.deb", `sudo ${enroll}`, "sudo systemctl enable --now downlink-agent"]
      : [
          `npm run ${enroll.replace("agent ", "agent -- ")} \\`,
          "    --state-dir ./agent-state --config ./agent.env",
          "npm run agent -- run --config ./agent.env",
        ];
  return commands.join("\n");
}

interface Enrolment {
  readonly origin: string;
  readonly storageRoot?: string;
}

/** The commands that bring an agent to a robot, in the order in which they are run. The first asks for the token, so that no history keeps it. */
export function enrollCommands({ origin, storageRoot = "/data/recordings" }: Enrolment): string {
  return [
    `npm run agent -- enroll --url ${origin} --storage-root ${storageRoot} \\`,
    "    --state-dir ./agent-state --config ./agent.env",
    "npm run agent -- run --config ./agent.env",
  ].join("\n");
}

/** Makes a service of the agent, which starts with the robot. */
export const SERVICE_COMMAND = "npm run agent -- install-service --config ./agent.env";

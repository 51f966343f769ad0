import { type Program, startProgram } from "./program.ts";

export interface EdgeAgentOptions {
  readonly url: string;
  readonly token: string;
  readonly storageRoot: string;
  readonly stateDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments for Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The command that becomes the agent, as `nsenter` does. */
  readonly within?: readonly string[];
}

/** Starts `agent run` with short waits, so that a test ends soon. */
export function startEdgeAgent(options: EdgeAgentOptions): Program {
  return startProgram({
    script: "agent/src/main.ts",
    args: ["run"],
    env: agentEnvironment(options),
    nodeArgs: options.nodeArgs,
    within: options.within,
  });
}

/** Runs any other command of the agent to its end. */
export async function runAgentCommand(
  options: EdgeAgentOptions,
  ...args: string[]
): Promise<{ code: number | NodeJS.Signals; output: string }> {
  await using program = startProgram({ script: "agent/src/main.ts", args, env: agentEnvironment(options) });
  const code = await program.ended;
  return { code, output: program.output() };
}

function agentEnvironment({ url, token, storageRoot, stateDir, env }: EdgeAgentOptions): Record<string, string> {
  return {
    DOWNLINK_API_URL: url,
    DOWNLINK_DEVICE_TOKEN: token,
    DOWNLINK_STORAGE_ROOT: storageRoot,
    DOWNLINK_STATE_DIR: stateDir,
    DOWNLINK_SETTLE_TIME: "200ms",
    DOWNLINK_WATCH_SCAN_INTERVAL: "1s",
    DOWNLINK_INCOMPLETE_AFTER: "1s",
    DOWNLINK_LOG_FORMAT: "json",
    ...env,
  };
}

import { edgeLimits } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { type EdgeAgentOptions, runAgentCommand } from "../processes/edge-agent.ts";
import type { Robot } from "./robot.ts";

interface Status {
  readonly health: string;
  readonly throttle: { readonly isPaused: boolean; readonly bytesPerSecond: number | null };
  readonly deletions: { readonly heldUntil: string | null };
  readonly problems: readonly { readonly code: string; readonly detail: string }[];
}

/** Returns the output of `agent status --json` on the device; undefined if the agent cannot be asked yet. */
export async function askStatus(options: EdgeAgentOptions): Promise<Status | undefined> {
  const { output } = await runAgentCommand(options, "status", "--json");
  return output.startsWith("{") ? (JSON.parse(output) as Status) : undefined;
}

/** A call that waits for work is given up 15 s after the longest time that it may wait. */
const PATIENCE_MS = (edgeLimits.longPollSeconds + 15 + 30) * 1000;

/** Waits until the status shows the problem, with a text that matches. */
export async function untilProblem({ agentOptions }: Robot, code: string, text: RegExp): Promise<void> {
  const isNamed = (status: Status | undefined) =>
    status?.problems.some((problem) => problem.code === code && text.test(problem.detail)) ?? false;
  await eventually(() => askStatus(agentOptions), isNamed, PATIENCE_MS);
}

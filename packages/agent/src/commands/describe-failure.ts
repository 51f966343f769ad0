import { printable, printableLines } from "@downlink/terminal/printable";
import { CommanderError } from "commander";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { StateRefusedError } from "../state/state-errors.ts";

/** The exit codes. `degraded` is also the code of a `doctor` with nothing but warnings. */
export const exitCodes = { healthy: 0, error: 1, usage: 2, degraded: 3, notRunning: 4 } as const;

interface DescribedFailure {
  /** Undefined where the message was printed already. */
  readonly text: string | undefined;
  readonly exitCode: number;
}

/** Returns the message and the exit code of a failed command. `asPrinted` makes commands in the message work as they are printed. */
export function describeFailure(error: unknown, asPrinted: (text: string) => string): DescribedFailure {
  // Commander itself prints what is wrong with a command line.
  if (error instanceof CommanderError)
    return { text: undefined, exitCode: error.exitCode === 0 ? exitCodes.healthy : exitCodes.usage };
  const isExpected =
    error instanceof InvalidSettingError || error instanceof StateRefusedError || isExpectedFailure(error);
  const text = isExpected ? asPrinted((error as Error).message) : describeFault(error);
  return { text: isOurs(error) ? printableLines(text) : printable(text), exitCode: exitCodeOf(error) };
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Error && error.name === "AgentNotRunningError") return exitCodes.notRunning;
  return error instanceof InvalidSettingError ? exitCodes.usage : exitCodes.error;
}

/** Messages of the control plane are printed as one line; ours may have more. */
function isOurs(error: unknown): boolean {
  return !isExpectedFailure(error) && !(error instanceof StateRefusedError);
}

const expectedFailures: ReadonlySet<string> = new Set([
  "AgentNotRunningError",
  "AgentSilentError",
  "ApiCallError",
  "ControlRefusedError",
  "EnrolmentRefusedError",
  "NetworkError",
  "StateUnreadableError",
]);

/** Failures of the control plane or the system, for which a stack would say nothing. */
function isExpectedFailure(error: unknown): boolean {
  const { name, code, errno } = error as { name?: string; code?: unknown; errno?: unknown };
  return expectedFailures.has(name ?? "") || typeof errno === "number" || code === "ERR_SQLITE_ERROR";
}

function describeFault(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

import { CommanderError } from "commander";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { StateRefusedError } from "../state/state-errors.ts";
import { printable, printableLines } from "../text/printable.ts";

/** `degraded`: also where `doctor` has nothing but warnings. */
export const exitCodes = { healthy: 0, error: 1, usage: 2, degraded: 3, notRunning: 4 } as const;

interface DescribedFailure {
  /** Undefined where it was said already. */
  readonly text: string | undefined;
  readonly exitCode: number;
}

/** What is said of a command that failed, and with which code it ends. `asPrinted` makes commands in it work as they are printed. */
export function describeFailure(error: unknown, asPrinted: (text: string) => string): DescribedFailure {
  // Commander prints by itself what is wrong with a command line.
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

/** What the far side says has one line; ours may have more. */
function isOurs(error: unknown): boolean {
  return !isExpectedFailure(error) && !(error instanceof StateRefusedError);
}

const expectedFailures: ReadonlySet<string> = new Set([
  "AgentNotRunningError",
  "AgentSilentError",
  "ApiFailure",
  "ControlRefusedError",
  "EnrolmentRefusedError",
  "NetworkFailure",
  "StateUnreadableError",
]);

/** What the far side or the system did; a stack would say nothing. */
function isExpectedFailure(error: unknown): boolean {
  const { name, code, errno } = error as { name?: string; code?: unknown; errno?: unknown };
  return expectedFailures.has(name ?? "") || typeof errno === "number" || code === "ERR_SQLITE_ERROR";
}

function describeFault(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

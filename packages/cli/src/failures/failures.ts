import { constants } from "node:os";
import { printable } from "@downlink/terminal/printable";
import { CommanderError } from "commander";

export const exitCodes = { done: 0, error: 1, usage: 2 } as const;

/** The program was called in a way that cannot work. The message says what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command failed for a reason that is no fault of the program. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** A signal ended the program, such as Ctrl-C. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  /** As a shell says it: 128 and the signal's number. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

const EXPECTED: ReadonlySet<string> = new Set([
  "ApiCallError",
  "DecodeError",
  "NetworkError",
  "OtherBytesError",
  "RefusedError",
  "UsageError",
]);

interface DescribedFailure {
  /** Undefined where the message was printed already, or there is none. */
  readonly text: string | undefined;
  readonly exitCode: number;
}

export function describeFailure(error: unknown): DescribedFailure {
  if (error instanceof CommanderError)
    return { text: undefined, exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  if (error instanceof InterruptedError) return { text: undefined, exitCode: error.exitCode };
  const { name = "", errno } = error as { name?: string; errno?: unknown };
  const isExpected = EXPECTED.has(name) || typeof errno === "number";
  return {
    text: isExpected ? printable((error as Error).message) : ((error as Error).stack ?? String(error)),
    exitCode: error instanceof UsageError ? exitCodes.usage : exitCodes.error,
  };
}

import { UsageError } from "../failures/failures.ts";

/** Reads a whole number of the command line. Throws {@link UsageError}. */
export function readWhole(flag: string, text: string, { least, most }: { least: number; most: number }): number {
  const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${flag} must be a whole number from ${least} to ${most}, and is ${text}`);
}

import { TimeBound } from "@downlink/protocol";
import { UsageError } from "../failures/failures.ts";

/** Reads a time of the command line. Throws {@link UsageError} with what is wrong. */
export function readTime(flag: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const read = TimeBound.safeDecode(text);
  if (read.success) return read.data;
  throw new UsageError(`${flag}: ${read.error.issues[0]?.message}`);
}

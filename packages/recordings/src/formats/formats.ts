import { indexBag } from "../bag1/bag-index.ts";
import { holdsBagChunk } from "../bag1/find-bag-chunk.ts";
import { inspectBag, inspectBagSummary } from "../bag1/inspect-bag.ts";
import { verifyBag } from "../bag1/verify-bag.ts";
import type { Reason } from "../faults/reasons.ts";
import { inspectMcap, inspectMcapSummary, requireMcapEnd } from "../mcap/inspect-mcap.ts";
import { holdsMcapChunk } from "../mcap/resync-mcap.ts";
import { verifyMcap } from "../mcap/verify-mcap.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { RecordingFormatName, RecordingSummary } from "../survey/summary.ts";
import type { Survey } from "../survey/survey.ts";
import type { Verifying } from "../verified/verifying.ts";

/**
 * What one format must offer. Code outside of `mcap/` and `bag1/` knows formats only through this.
 *
 * We read both formats ourselves, not by `McapIndexedReader` and `@foxglove/rosbag`: the first silently gives nothing without chunk
 * indexes, the second loses messages of unsorted chunks, and neither bounds what a hostile file makes it allocate. The tests compare our
 * readers with theirs.
 */
export interface RecordingFormat {
  readonly name: RecordingFormatName;
  /**
   * Surveys a recording that has its end. Throws a code that means incomplete if it has none. `doubt`: why a recording in which no message was
   * found may have had some.
   */
  inspect(context: ReadContext): Promise<{ survey: Survey; method: RecordingSummary["method"]; doubt?: Reason }>;
  /** Surveys a recording by a summary of about a megabyte at most. Answers undefined if the summary does not say everything. */
  inspectSummary(context: ReadContext): Promise<Survey | undefined>;
  /** Checks the end of the file only, which is cheap. Throws if it is not sound. */
  requireEnd(context: ReadContext): Promise<unknown>;
  /**
   * Reads all of a recording once and in order. Throws if it cannot be given whole, except in a salvage: it takes what makes sense, and notes
   * the rest as damage. Answers where another recording begins in the same file, which only a salvage comes to, or where the file ends.
   */
  verify(verifying: Verifying): Promise<number>;
  /** Whether a chunk of this format stands in the first megabyte, whatever the first bytes of the file are. */
  holdsChunk(context: ReadContext): Promise<boolean>;
}

export const formats: Record<RecordingFormatName, RecordingFormat> = {
  mcap: {
    name: "mcap",
    inspect: inspectMcap,
    inspectSummary: inspectMcapSummary,
    verify: verifyMcap,
    requireEnd: requireMcapEnd,
    holdsChunk: holdsMcapChunk,
  },
  bag1: {
    name: "bag1",
    inspect: inspectBag,
    inspectSummary: inspectBagSummary,
    verify: verifyBag,
    requireEnd: indexBag,
    holdsChunk: holdsBagChunk,
  },
};

/** The format that a file's name promises. A trailing `.active` (still being recorded) does not count. */
export function recordingFormatOf(fileName: string): RecordingFormatName | undefined {
  const name = fileName.toLowerCase().replace(/\.active$/, "");
  if (name.endsWith(".mcap")) return "mcap";
  return name.endsWith(".bag") ? "bag1" : undefined;
}

import { indexBag } from "../bag1/bag-index.ts";
import { inspectBag, inspectBagSummary } from "../bag1/inspect-bag.ts";
import { surveyBag } from "../bag1/survey-bag.ts";
import { verifyBag } from "../bag1/verify-bag.ts";
import { inspectMcap, inspectMcapSummary, requireMcapEnd } from "../mcap/inspect-mcap.ts";
import { surveyMcap } from "../mcap/survey-mcap.ts";
import { verifyMcap } from "../mcap/verify-mcap.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { RecordingFormatName, RecordingSummary } from "../survey/summary.ts";
import type { Survey } from "../survey/survey.ts";
import type { Verifying } from "../verified/verifying.ts";

/** What one format must offer; everything outside of `mcap/` and `bag1/` knows formats only through this. */
export interface RecordingFormat {
  readonly name: RecordingFormatName;
  /** Surveys a recording that has its end; otherwise faults with a code that means incomplete. */
  inspect(context: ReadContext): Promise<{ survey: Survey; method: RecordingSummary["method"] }>;
  /** The same from a summary of about a megabyte at most; undefined where that does not tell all. */
  inspectSummary(context: ReadContext): Promise<Survey | undefined>;
  /** The cheap check: faults without a sound end. */
  requireEnd(context: ReadContext): Promise<unknown>;
  /** Reads all of a recording once and in order. Faults where it cannot be given whole; a salvage never. */
  verify(verifying: Verifying): Promise<void>;
  /** Fills a survey as far as the content makes sense, reading as little as tells, then faults. */
  surveyIncomplete(survey: Survey, context: ReadContext): Promise<void>;
}

export const formats: Record<RecordingFormatName, RecordingFormat> = {
  mcap: {
    name: "mcap",
    inspect: inspectMcap,
    inspectSummary: inspectMcapSummary,
    verify: verifyMcap,
    requireEnd: requireMcapEnd,
    surveyIncomplete: surveyMcap,
  },
  bag1: {
    name: "bag1",
    inspect: inspectBag,
    inspectSummary: inspectBagSummary,
    verify: verifyBag,
    requireEnd: indexBag,
    surveyIncomplete: surveyBag,
  },
};

/** The format that a file's name promises; a trailing `.active` (still being recorded) does not count. */
export function recordingFormatOf(fileName: string): RecordingFormatName | undefined {
  const name = fileName.toLowerCase().replace(/\.active$/, "");
  if (name.endsWith(".mcap")) return "mcap";
  return name.endsWith(".bag") ? "bag1" : undefined;
}

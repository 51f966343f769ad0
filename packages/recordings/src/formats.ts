import { indexBag } from "./bag1/bag-index.ts";
import { visitRecords as visitBagRecords } from "./bag1/chunk-records.ts";
import { inspectBag, surveyFinishedBag } from "./bag1/inspect-bag.ts";
import { surveyBag } from "./bag1/survey-bag.ts";
import { visitRecords as visitMcapRecords } from "./mcap/chunk-records.ts";
import { inspectMcap, requireMcapEnd, surveyFinishedMcap } from "./mcap/inspect-mcap.ts";
import { surveyMcap } from "./mcap/survey-mcap.ts";
import type { RawMessage, SurveyOptions } from "./message-run.ts";
import type { ReadContext } from "./read-context.ts";
import type { RecordingFormatName, RecordingSummary } from "./summary.ts";
import type { Survey } from "./survey.ts";

/** What one format must offer; everything outside of `mcap/` and `bag1/` knows formats only through this. */
export interface RecordingFormat {
  name: RecordingFormatName;
  /** Surveys a recording that has its end; otherwise faults with a code that means incomplete. */
  inspect(
    context: ReadContext,
    options: { verify: boolean },
  ): Promise<{ survey: Survey; method: RecordingSummary["method"] }>;
  /** The cheap check: faults without a sound end. */
  requireEnd(context: ReadContext): Promise<unknown>;
  /** Skims a recording that has its end, naming the runs in which its messages lie. */
  survey(context: ReadContext, options: SurveyOptions): Promise<Survey>;
  /** Fills a survey as far as the content makes sense, naming the runs, then faults. */
  surveyIncomplete(survey: Survey, context: ReadContext, options?: SurveyOptions): Promise<void>;
  visitMessages(bytes: Uint8Array, place: string, visit: (message: RawMessage) => void): void;
}

export const formats: Record<RecordingFormatName, RecordingFormat> = {
  mcap: {
    name: "mcap",
    inspect: inspectMcap,
    requireEnd: requireMcapEnd,
    survey: surveyFinishedMcap,
    surveyIncomplete: surveyMcap,
    visitMessages: (bytes, place, message) => visitMcapRecords(bytes, place, { message }),
  },
  bag1: {
    name: "bag1",
    inspect: inspectBag,
    requireEnd: indexBag,
    survey: surveyFinishedBag,
    surveyIncomplete: surveyBag,
    visitMessages: (bytes, place, message) => visitBagRecords(bytes, place, { message }),
  },
};

/** The format that a file's name promises; a trailing `.active` (still being recorded) does not count. */
export function recordingFormatOf(fileName: string): RecordingFormatName | undefined {
  const name = fileName.toLowerCase().replace(/\.active$/, "");
  if (name.endsWith(".mcap")) return "mcap";
  return name.endsWith(".bag") ? "bag1" : undefined;
}

import { RecordingError } from "../faults/reasons.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { RecordingSummary } from "../survey/summary.ts";
import { createSurvey, type Survey, settleSpans } from "../survey/survey.ts";
import { addRepeatedChannels, indexMcap } from "./index-mcap.ts";
import { type McapEnd, readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, magic } from "./opcodes.ts";
import { readSummarySection, type SummarySection } from "./summary-section.ts";
import { surveyMcap } from "./survey-mcap.ts";

/** Surveys a file that has its end, and otherwise throws `NoEnd`. A damaged summary is not used. */
export async function inspectMcap(
  context: ReadContext,
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  const { section, indexed } = await readBySummary(context);
  if (indexed) return { survey: indexed, method: "index" };
  const survey = createSurvey();
  // If the summary repeats channels, the chunks in which they first appear need not be decompressed.
  if (section) addRepeatedChannels(survey, section, context.limits);
  await surveyMcap(survey, context);
  settleSpans(survey, MAX_TIME_NS);
  const isScan = survey.chunkCount > 0 && survey.decompressedChunkCount === survey.chunkCount;
  return { survey, method: isScan ? "scan" : "skim" };
}

/** Surveys a file by its summary alone. Answers undefined if the summary does not suffice. Throws as `inspectMcap` does. */
export async function inspectMcapSummary(context: ReadContext): Promise<Survey | undefined> {
  return (await readBySummary(context)).indexed;
}

async function readBySummary(context: ReadContext): Promise<{ section?: SummarySection; indexed?: Survey }> {
  const end = await readMcapEnd(context.source, TAIL_BYTES);
  const section = await readSummary(end, context);
  if (!section) return {};
  const indexed = await indexMcap(section, end, context);
  return indexed ? { section, indexed } : { section };
}

/** The caller checks the magic at the beginning of the file. */
export async function requireMcapEnd({ source }: ReadContext): Promise<void> {
  await readMcapEnd(source, FOOTER_BYTES + magic.byteLength);
}

/** The last so many bytes hold the whole summary of most recordings. */
const TAIL_BYTES = 64 * 1024;

/** Answers undefined if it is damaged. */
async function readSummary(end: McapEnd, context: ReadContext): Promise<SummarySection | undefined> {
  if (!end.isSound) return undefined;
  try {
    return await readSummarySection(end, context);
  } catch (error) {
    if (error instanceof RecordingError && codesOf(context).has(error.reason.code)) return undefined;
    throw error;
  }
}

/**
 * The codes for which a summary is not used. If content beyond the limits is left out, a summary that holds too much is not used either.
 */
function codesOf({ limits }: ReadContext): ReadonlySet<string> {
  return limits.leavesOut ? leftOutCodes : summaryCodes;
}

const summaryCodes: ReadonlySet<string> = new Set(["BadSummary", "LengthBeyondFile", "InvalidTime"]);
const leftOutCodes: ReadonlySet<string> = new Set([...summaryCodes, "TooManyChannels", "TooManyRecords"]);

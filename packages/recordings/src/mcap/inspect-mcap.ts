import { type Reason, RecordingError } from "../faults/reasons.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { RecordingSummary } from "../survey/summary.ts";
import { countMessages, createSurvey, type Survey, settleSpans } from "../survey/survey.ts";
import { addRepeatedChannels, indexMcap } from "./index-mcap.ts";
import { describeFooter, type McapEnd, readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, magic } from "./opcodes.ts";
import { readSummarySection, type SummarySection } from "./summary-section.ts";
import { surveyMcap } from "./survey-mcap.ts";

/** Surveys a file that has its end, and otherwise throws `NoEnd`. A damaged summary is not used. */
export async function inspectMcap(
  context: ReadContext,
): Promise<{ survey: Survey; method: RecordingSummary["method"]; doubt?: Reason }> {
  const { section, indexed, fault } = await readBySummary(context);
  if (indexed) return { survey: indexed, method: "index" };
  const survey = createSurvey();
  // If the summary repeats channels, the chunks in which they first appear need not be decompressed.
  if (section) addRepeatedChannels(survey, section, context.limits);
  await surveyMcap(survey, context);
  settleSpans(survey, MAX_TIME_NS);
  const isScan = survey.chunkCount > 0 && survey.decompressedChunkCount === survey.chunkCount;
  const doubt = countMessages(survey) === 0 ? (fault ?? doubtStatistics(section)) : undefined;
  return { survey, method: isScan ? "scan" : "skim", ...(doubt && { doubt }) };
}

/** Surveys a file by its summary alone. Answers undefined if the summary does not suffice. Throws as `inspectMcap` does. */
export async function inspectMcapSummary(context: ReadContext): Promise<Survey | undefined> {
  return (await readBySummary(context)).indexed;
}

/** The reason against a recording that holds no message. */
function doubtStatistics(section: SummarySection | undefined): Reason | undefined {
  const messageCount = section?.statistics?.messageCount ?? 0;
  if (messageCount === 0) return undefined;
  return { code: "BadSummary", text: `the summary counts ${messageCount} messages, and the file holds none` };
}

interface BySummary {
  readonly section?: SummarySection;
  readonly indexed?: Survey;
  /** The fault of a summary that is not used. */
  readonly fault?: Reason;
}

/** Reads the summary of a file that has its end. `indexed` is absent if it does not prove that it is complete. */
export async function readBySummary(
  context: ReadContext,
  options: { readonly wantsChunks?: boolean } = {},
): Promise<BySummary> {
  const end = await readMcapEnd(context.source, TAIL_BYTES);
  const section = await readSummary(end, context, options);
  if (section instanceof RecordingError) return summaryCodes.has(section.reason.code) ? { fault: section.reason } : {};
  const indexed = await indexMcap(section, end, context);
  return indexed ? { section, indexed } : { section };
}

/** The caller checks the magic at the beginning of the file. */
export async function requireMcapEnd({ source }: ReadContext): Promise<void> {
  await readMcapEnd(source, FOOTER_BYTES + magic.byteLength);
}

/** The last so many bytes hold the whole summary of most recordings. */
const TAIL_BYTES = 64 * 1024;

/** Answers the reason if it is not used. */
async function readSummary(
  end: McapEnd,
  context: ReadContext,
  options: { readonly wantsChunks?: boolean },
): Promise<SummarySection | RecordingError> {
  if (!end.isSound) return new RecordingError("BadSummary", describeFooter(end.footerOffset));
  try {
    return await readSummarySection(end, context, options);
  } catch (error) {
    if (error instanceof RecordingError && codesOf(context).has(error.reason.code)) return error;
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

import type { ReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import type { RecordingSummary } from "../summary.ts";
import { createSurvey, type Survey } from "../survey.ts";
import { addRepeatedChannels, indexMcap } from "./index-mcap.ts";
import { type McapEnd, readMcapEnd } from "./mcap-end.ts";
import { footerBytes, magic } from "./opcodes.ts";
import { readSummarySection, type SummarySection } from "./summary-section.ts";
import { surveyMcap } from "./survey-mcap.ts";

/** Surveys a file that has its end; otherwise faults with `NoEnd`. A summary that is damaged is done without. */
export async function inspectMcap(
  context: ReadContext,
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  const end = await readMcapEnd(context.source, tailBytes);
  const section = await readSummary(end, context);
  const indexed = section && (await indexMcap(section, end, context));
  if (indexed) return { survey: indexed, method: "index" };
  const survey = createSurvey();
  // Channels that the summary repeats save decompressing the chunks in which they first appear.
  if (section) addRepeatedChannels(survey, section, context.limits);
  await surveyMcap(survey, context);
  const isScan = survey.chunkCount > 0 && survey.decompressedChunkCount === survey.chunkCount;
  return { survey, method: isScan ? "scan" : "skim" };
}

/** Leading magic is the caller's to check. */
export async function requireMcapEnd({ source }: ReadContext): Promise<void> {
  await readMcapEnd(source, footerBytes + magic.byteLength);
}

/** Holds the whole summary of most recordings. */
const tailBytes = 64 * 1024;

/** Undefined where it is damaged. */
async function readSummary(end: McapEnd, context: ReadContext): Promise<SummarySection | undefined> {
  if (!end.isSound) return undefined;
  try {
    return await readSummarySection(end, context);
  } catch (error) {
    if (error instanceof RecordingFault && summaryCodes.has(error.reason.code)) return undefined;
    throw error;
  }
}

const summaryCodes: ReadonlySet<string> = new Set(["BadSummary", "LengthBeyondFile", "InvalidTime"]);

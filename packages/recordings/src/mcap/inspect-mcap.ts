import type { SurveyOptions } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import type { RecordingSummary } from "../summary.ts";
import { createSurvey, type Survey } from "../survey.ts";
import { addRepeatedChannels, indexMcap } from "./index-mcap.ts";
import { indexRuns } from "./index-runs.ts";
import { readMcapEnd } from "./mcap-end.ts";
import { footerBytes, magic } from "./opcodes.ts";
import { readSummarySection, type SummarySection } from "./summary-section.ts";
import { surveyMcap } from "./survey-mcap.ts";

/** Surveys a file that has its end; otherwise faults with `NoEnd`. */
export async function inspectMcap(
  context: ReadContext,
  options: { verify: boolean },
): Promise<{ survey: Survey; method: RecordingSummary["method"] }> {
  const end = await readMcapEnd(context.source, tailBytes);
  const section = await readSummarySection(end, context);
  const indexed = options.verify ? undefined : await indexMcap(section, end, context);
  if (indexed) return { survey: indexed, method: "index" };
  const survey = await surveyWith(section, context, options);
  const isScan = survey.chunkCount > 0 && survey.decompressedChunkCount === survey.chunkCount;
  return { survey, method: isScan || options.verify ? "scan" : "skim" };
}

/** Names every run: by the chunk indexes where the summary proves complete, otherwise by a skim. */
export async function surveyFinishedMcap(context: ReadContext, options: SurveyOptions): Promise<Survey> {
  const end = await readMcapEnd(context.source, tailBytes);
  const section = await readSummarySection(end, context, { wantsChunks: true });
  const indexed = options.onRun && (await indexRuns({ section, end }, context, options.onRun));
  return indexed ?? surveyWith(section, context, options);
}

/** Leading magic is the caller's to check. */
export async function requireMcapEnd({ source }: ReadContext): Promise<void> {
  await readMcapEnd(source, footerBytes + magic.byteLength);
}

/** Holds the whole summary of most recordings. */
const tailBytes = 64 * 1024;

/** Channels that the summary repeats save decompressing the chunks in which they first appear. */
async function surveyWith(section: SummarySection, context: ReadContext, options: SurveyOptions): Promise<Survey> {
  const survey = createSurvey();
  addRepeatedChannels(survey, section, context.limits);
  await surveyMcap(survey, context, options);
  return survey;
}

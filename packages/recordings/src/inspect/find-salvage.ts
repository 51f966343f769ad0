import { RecordingError } from "../faults/reasons.ts";
import { detectFormat } from "../formats/detect-format.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { Salvage } from "../survey/summary.ts";
import { countMessages, createSurvey, type Survey } from "../survey/survey.ts";
import { findIdentity } from "../survey/to-summary.ts";

/**
 * Answers what a salvage would give at least, by headers and message indexes. A salvage reads everything, and may find more behind a place
 * that makes no sense. Answers nothing if not even the format is known.
 */
export async function findSalvage(fileName: string, context: ReadContext): Promise<Salvage> {
  const survey = await surveyReadable(fileName, context);
  const topics = new Set<string>();
  for (const id of survey.tallies.keys()) topics.add(survey.channels.get(id)!.topic);
  return {
    startNs: survey.startNs,
    endNs: survey.endNs,
    messageCount: countMessages(survey),
    topics: [...topics],
    readableBytes: survey.readableBytes,
    lostBytes: context.source.sizeBytes - survey.readableBytes,
    identity: findIdentity(survey.metadata),
  };
}

async function surveyReadable(fileName: string, context: ReadContext): Promise<Survey> {
  const survey = createSurvey();
  try {
    await (await detectFormat(context.source, fileName)).surveyIncomplete(survey, context);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
  return survey;
}

import type { RecordingFormat } from "../formats.ts";
import type { ReadContext } from "../read-context.ts";
import type { Salvage } from "../summary.ts";
import { countMessages, createSurvey } from "../survey.ts";
import { findIdentity } from "../to-summary.ts";
import { surveyReadable } from "./survey-readable.ts";

/** What a salvage would give; nothing where not even the format is known. */
export async function findSalvage(format: RecordingFormat | undefined, context: ReadContext): Promise<Salvage> {
  const survey = format ? await surveyReadable(format, context) : createSurvey();
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

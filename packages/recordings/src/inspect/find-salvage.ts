import { RecordingError } from "../faults/reasons.ts";
import { detectFormat } from "../formats/detect-format.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { RecordingDamage, Salvage } from "../survey/summary.ts";
import { countMessages, createSurvey, type Survey } from "../survey/survey.ts";
import { findIdentity } from "../survey/to-summary.ts";
import { createDamageLog } from "../verified/damage-log.ts";

/**
 * Answers what a salvage would give, by headers and message indexes where they make sense, and by the content where they do not. A salvage
 * reads everything, and may find more damage. Answers nothing if not even the format is known.
 */
export async function findSalvage(fileName: string, context: ReadContext): Promise<Salvage> {
  const { survey, damage } = await surveyReadable(fileName, context);
  const topics = new Set<string>();
  for (const id of survey.tallies.keys()) topics.add(survey.channels.get(id)!.topic);
  const { sizeBytes } = context.source;
  const isAny = countMessages(survey) > 0;
  const lostBytes = isAny ? Math.min(damage?.bytesLost ?? 0, sizeBytes) : sizeBytes;
  return {
    startNs: survey.startNs,
    endNs: survey.endNs,
    messageCount: countMessages(survey),
    topics: [...topics],
    readableBytes: sizeBytes - lostBytes,
    lostBytes,
    ...(damage && { damage }),
    identity: findIdentity(survey.metadata),
  };
}

async function surveyReadable(
  fileName: string,
  context: ReadContext,
): Promise<{ survey: Survey; damage: RecordingDamage | undefined }> {
  const survey = createSurvey();
  const damage = createDamageLog();
  try {
    await (await detectFormat(context.source, fileName)).surveyIncomplete(survey, context, damage);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
  return { survey, damage: damage.sum() };
}

import { RecordingError } from "../faults/reasons.ts";
import { detectDamaged } from "../formats/detect-format.ts";
import { createReadContext, type ReadContext } from "../reading/read-context.ts";
import { sourceFrom } from "../sources/source.ts";
import { joinSalvages } from "../survey/join-salvages.ts";
import type { RecordingDamage, Salvage } from "../survey/summary.ts";
import { countMessages, createSurvey, type Survey } from "../survey/survey.ts";
import { findIdentity } from "../survey/to-summary.ts";
import { createDamageLog } from "../verified/damage-log.ts";

/**
 * Answers what a salvage would give, by headers and message indexes where they make sense, and by the content where they do not. A salvage
 * reads everything, and may find more damage. Recordings that were joined to one file are surveyed one after another. Answers nothing if
 * not even the format is known.
 */
export async function findSalvage(fileName: string, context: ReadContext): Promise<Salvage> {
  const { source } = context;
  const parts: Salvage[] = [];
  for (let start = 0; parts.length === 0 || start < source.sizeBytes; ) {
    const part = start === 0 ? context : partFrom(context, start);
    const { end, ...found } = await surveyReadable(fileName, part);
    parts.push(toSalvage(found, end));
    start += end;
    if (end === 0) break;
  }
  return joinSalvages(parts);
}

function partFrom({ source, limits, signal }: ReadContext, start: number): ReadContext {
  return createReadContext(sourceFrom(source, start), { limits, signal });
}

interface Surveyed {
  readonly survey: Survey;
  readonly damage: RecordingDamage | undefined;
}

function toSalvage({ survey, damage }: Surveyed, sizeBytes: number): Salvage {
  const topics = new Set<string>();
  for (const id of survey.tallies.keys()) topics.add(survey.channels.get(id)!.topic);
  const messageCount = countMessages(survey);
  const lostBytes = messageCount > 0 ? Math.min(damage?.bytesLost ?? 0, sizeBytes) : sizeBytes;
  return {
    startNs: survey.startNs,
    endNs: survey.endNs,
    messageCount,
    topics: [...topics],
    readableBytes: sizeBytes - lostBytes,
    lostBytes,
    ...(damage && { damage }),
    identity: findIdentity(survey.metadata),
  };
}

/** `end`: where the next recording begins, or the file ends. */
async function surveyReadable(fileName: string, context: ReadContext): Promise<Surveyed & { end: number }> {
  const survey = createSurvey({ mayLackSchemas: true });
  const damage = createDamageLog();
  let end = context.source.sizeBytes;
  try {
    end = await (await detectDamaged(context.source, fileName)).surveyIncomplete(survey, context, damage);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
  return { survey, damage: damage.sum(), end };
}

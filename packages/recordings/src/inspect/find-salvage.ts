import { RecordingError } from "../faults/reasons.ts";
import { detectDamaged } from "../formats/detect-format.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import { createReadContext, type ReadContext } from "../reading/read-context.ts";
import { sourceFrom } from "../sources/source.ts";
import { joinSalvages } from "../survey/join-salvages.ts";
import type { Salvage } from "../survey/summary.ts";
import { countMessages, settleSpans } from "../survey/survey.ts";
import { findIdentity } from "../survey/to-summary.ts";
import type { Verifying } from "../verified/verifying.ts";
import { openVerifying } from "./open-verifying.ts";

/**
 * Answers what a salvage would give: it reads the file as a salvage does, and keeps nothing of it. Only what is beyond the limits is left
 * out, and counted. Recordings that were joined to one file are read one after another. Answers nothing if not even the format is known.
 */
export async function findSalvage(fileName: string, context: ReadContext): Promise<Salvage> {
  const { source } = context;
  const parts: Salvage[] = [];
  for (let start = 0; parts.length === 0 || start < source.sizeBytes; ) {
    const part = start === 0 ? context : partFrom(context, start);
    const { end, verifying } = await readReadable(fileName, part);
    parts.push(toSalvage(verifying, end));
    start += end;
    if (end === 0) break;
  }
  return joinSalvages(parts);
}

function partFrom({ source, limits, signal }: ReadContext, start: number): ReadContext {
  return createReadContext(sourceFrom(source, start), { limits, signal });
}

function toSalvage({ survey, damage: log }: Verifying, sizeBytes: number): Salvage {
  const damage = log.sum();
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
async function readReadable(fileName: string, context: ReadContext): Promise<{ verifying: Verifying; end: number }> {
  const verifying = openVerifying(context, { isSalvage: true, add: () => undefined });
  let end = context.source.sizeBytes;
  try {
    end = await (await detectDamaged(context.source, fileName)).verify(verifying);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
  settleSpans(verifying.survey, MAX_TIME_NS);
  return { verifying, end };
}

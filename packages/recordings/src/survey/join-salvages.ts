import type { RecordingDamage, Salvage } from "./summary.ts";
import { extendSpan } from "./survey.ts";

/** The readable parts of several recordings in one file, as one. The first identity counts. */
export function joinSalvages(parts: readonly Salvage[]): Salvage {
  const [first, ...others] = parts;
  if (first && others.length === 0) return first;
  const span: { startNs?: bigint; endNs?: bigint } = {};
  for (const { startNs, endNs } of parts)
    if (startNs !== undefined && endNs !== undefined) extendSpan(span, startNs, endNs);
  const damage = joinDamage(parts.flatMap((part) => part.damage ?? []));
  return {
    ...span,
    messageCount: sumOf(parts, ({ messageCount }) => messageCount),
    topics: [...new Set(parts.flatMap(({ topics }) => topics))],
    readableBytes: sumOf(parts, ({ readableBytes }) => readableBytes),
    lostBytes: sumOf(parts, ({ lostBytes }) => lostBytes),
    ...(damage && { damage }),
    identity: parts.find(({ identity }) => Object.keys(identity).length > 0)?.identity ?? {},
  };
}

function joinDamage(damages: readonly RecordingDamage[]): RecordingDamage | undefined {
  if (damages.length === 0) return undefined;
  const messagesGuessed = sumOf(damages, (damage) => damage.messagesGuessed ?? 0);
  const messagesDoubted = sumOf(damages, (damage) => damage.messagesDoubted ?? 0);
  return {
    chunksLost: sumOf(damages, ({ chunksLost }) => chunksLost),
    messagesLost: sumOf(damages, ({ messagesLost }) => messagesLost),
    isCountKnown: damages.every(({ isCountKnown }) => isCountKnown),
    attachmentsLost: sumOf(damages, ({ attachmentsLost }) => attachmentsLost),
    bytesLost: sumOf(damages, ({ bytesLost }) => bytesLost),
    ...(messagesGuessed > 0 && { messagesGuessed }),
    ...(messagesDoubted > 0 && { messagesDoubted }),
    reasons: damages.flatMap(({ reasons }) => reasons).slice(0, MOST_REASONS),
  };
}

const MOST_REASONS = 10;

function sumOf<T>(values: readonly T[], numberOf: (value: T) => number): number {
  return values.reduce((sum, value) => sum + numberOf(value), 0);
}

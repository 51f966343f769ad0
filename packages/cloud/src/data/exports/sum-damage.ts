// Damage is reported before anybody downloads: in the recording, in the answer that has the link, and in the stream's header
// `x-downlink-damage`. A file whose messages fail a checksum is not imported; the damage that is reported concerns an attachment, a
// summary, or a checksum that nothing depends on.

import { DataDamage } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";

const MOST_REASONS = 10;

/** Sums the damage of several recordings; undefined if none is damaged. */
export function sumDamage(recordings: readonly { readonly damage: string | null }[]): Complete<DataDamage> | undefined {
  const damages = recordings.flatMap(({ damage }) => (damage === null ? [] : [DataDamage.parse(JSON.parse(damage))]));
  if (damages.length === 0) return undefined;
  const sumOf = (name: Exclude<keyof DataDamage, "isCountKnown" | "reasons">): number =>
    damages.reduce((sum, damage) => sum + (damage[name] ?? 0), 0);
  return {
    chunksLost: sumOf("chunksLost"),
    messagesLost: sumOf("messagesLost"),
    isCountKnown: damages.every(({ isCountKnown }) => isCountKnown),
    attachmentsLost: sumOf("attachmentsLost"),
    bytesLost: sumOf("bytesLost"),
    messagesGuessed: sumOf("messagesGuessed") || undefined,
    messagesDoubted: sumOf("messagesDoubted") || undefined,
    reasons: damages.flatMap(({ reasons }) => reasons).slice(0, MOST_REASONS),
  };
}

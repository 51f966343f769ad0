import { openCursor, readBytes, readU16, readU32, readU64 } from "../field-cursor.ts";
import { type Reason, RecordingFault } from "../reasons.ts";
import type { MetadataRecord } from "../summary.ts";
import type { SkippedDamage } from "./export-options.ts";
import type { PlannedRun } from "./plan/open-source.ts";
import { unwanted } from "./rewrite/select-messages.ts";

/** What was left out of the written file because it is damaged, for a metadata record in it. */
export interface DamageReport {
  add(run: PlannedRun, reason: Reason): Promise<void>;
  addAttachment(fileName: string, name: string): void;
  /** `undefined`: nothing was left out. */
  toMetadata(): MetadataRecord | undefined;
}

export function createDamageReport(onSkippedDamage?: (damage: SkippedDamage) => void): DamageReport {
  const listed: SkippedDamage[] = [];
  const attachments: { source: string; name: string }[] = [];
  let count = 0;
  let messagesLost = 0;
  let isCountKnown = true;
  return {
    async add(run, reason) {
      const lost = await countLost(run);
      const damage: SkippedDamage = { source: run.source.fileName, offset: run.offset, reason, messagesLost: lost };
      count += 1;
      messagesLost += lost ?? 0;
      isCountKnown &&= lost !== undefined;
      if (listed.length < maxListed) listed.push(damage);
      onSkippedDamage?.(damage);
    },
    addAttachment(source, name) {
      attachments.push({ source, name });
    },
    toMetadata() {
      if (count + attachments.length === 0) return undefined;
      const lost = isCountKnown ? `${messagesLost}` : `at least ${messagesLost}`;
      const metadata: Record<string, string> = { skippedChunks: `${count}`, messagesLost: lost };
      for (const [index, damage] of listed.sort(byPlace).entries()) metadata[`skipped.${index + 1}`] = describe(damage);
      if (attachments.length > 0) metadata.skippedAttachments = JSON.stringify(attachments.slice(0, maxListed));
      return { name: "downlink.export", metadata };
    },
  };
}

const maxListed = 1000;

function describe({ source, offset, reason, messagesLost }: SkippedDamage): string {
  return JSON.stringify({ source, offset, code: reason.code, reason: reason.text, messagesLost });
}

function byPlace(a: SkippedDamage, b: SkippedDamage): number {
  if (a.source === b.source) return a.offset - b.offset;
  return a.source < b.source ? -1 : 1;
}

/** The selected messages of a chunk by the message indexes behind it, which may be damaged too. */
async function countLost({ source, indexed, offset }: PlannedRun): Promise<number | undefined> {
  if (!indexed) return undefined;
  const bytes = await source.context.source.read(offset + indexed.chunkBytes, indexed.indexesBytes);
  try {
    return countSelected(bytes, source.selection);
  } catch (error) {
    if (error instanceof RecordingFault) return undefined;
    throw error;
  }
}

function countSelected(bytes: Uint8Array, { ids, startNs = 0n, endNs = 2n ** 64n }: PlannedRun["source"]["selection"]) {
  const cursor = openCursor(bytes, "the message indexes");
  let count = 0;
  while (cursor.position < bytes.byteLength) {
    readBytes(cursor, 9);
    const isWanted = (ids.get(readU16(cursor)) ?? unwanted) !== unwanted;
    const end = readU32(cursor) + cursor.position;
    while (cursor.position < end) {
      const timeNs = readU64(cursor);
      readBytes(cursor, 8);
      if (isWanted && timeNs >= startNs && timeNs <= endNs) count += 1;
    }
  }
  return count;
}

import { type Reason, RecordingFault } from "../../faults/reasons.ts";
import { openCursor, readBytes, readU16, readU32, readU64 } from "../../reading/field-cursor.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import type { MetadataRecord } from "../../survey/summary.ts";
import type { DamageLine } from "../../verified/index-layout.ts";
import type { RunPage } from "../../verified/index-pages.ts";
import type { IndexedChannel, VerifiedIndex } from "../../verified/read-index.ts";
import type { ExportSelection, ExportSource, SkippedDamage } from "./export-options.ts";

/** What was left out of the written file because it is damaged, for a metadata record in it. */
export interface DamageReport {
  /** What an index says is missing whatever one asks for: parts of a recording that make no sense. */
  addIndexed(fileName: string, index: VerifiedIndex): Promise<void>;
  /** A damaged run in the window, if it may hold something that is wanted. */
  addRun(run: DamagedRun): Promise<void>;
  /** `undefined`: nothing was left out. */
  toMetadata(): MetadataRecord | undefined;
}

export interface DamagedRun {
  source: ExportSource;
  context: ReadContext;
  page: RunPage;
  row: number;
  channels: readonly IndexedChannel[];
  /** By the channel's number. */
  wanted: readonly boolean[];
  options: ExportSelection;
}

export function createDamageReport(onSkippedDamage?: (damage: SkippedDamage) => void): DamageReport {
  const listed: SkippedDamage[] = [];
  const attachments: { source: string; name: string }[] = [];
  const ranges: object[] = [];
  /** By source: the damage that its index names, by offset. */
  const reasons = new Map<string, Map<number, DamageLine>>();
  let count = 0;
  let messagesLost = 0;
  let isCountKnown = true;
  return {
    async addIndexed(source, index) {
      if (!index.head.damage) return;
      const lines = await index.damage();
      reasons.set(source, new Map(lines.filter(({ kind }) => kind === "chunk").map((line) => [line.offset, line])));
      for (const { kind, offset, code, text, name, messagesLost: lost } of lines) {
        if (kind === "attachment") attachments.push({ source, name: name ?? "" });
        if (kind !== "gap" && kind !== "untraced") continue;
        ranges.push({ source, offset, code, reason: text, messagesLost: lost });
        messagesLost += lost ?? 0;
        isCountKnown &&= lost !== undefined;
      }
    },
    async addRun(run) {
      const { source, page, row } = run;
      if (!mayBeWanted(run)) return;
      const offset = page.runs.offsets[row]!;
      const line = reasons.get(source.fileName)?.get(offset);
      const reason = {
        code: (line?.code ?? "BadChunk") as Reason["code"],
        text: line?.text ?? `the chunk at byte ${offset} is damaged`,
      };
      const lost = line?.messagesLost === undefined ? undefined : await countLost(run);
      const damage: SkippedDamage = { source: source.fileName, offset, reason, messagesLost: lost };
      count += 1;
      messagesLost += lost ?? 0;
      isCountKnown &&= lost !== undefined;
      if (listed.length < maxListed) listed.push(damage);
      onSkippedDamage?.(damage);
    },
    toMetadata() {
      if (count + attachments.length + ranges.length === 0) return undefined;
      const lost = isCountKnown ? `${messagesLost}` : `at least ${messagesLost}`;
      const metadata: Record<string, string> = { skippedChunks: `${count}`, messagesLost: lost };
      for (const [index, damage] of listed.sort(byPlace).entries()) metadata[`skipped.${index + 1}`] = describe(damage);
      if (ranges.length > 0) metadata.skippedRanges = JSON.stringify(ranges.slice(0, maxListed));
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

/** Unless its message indexes name only channels that are not wanted. */
function mayBeWanted({ page: { runs, channels }, row, wanted }: DamagedRun): boolean {
  const [from, to] = [runs.channelEnds[row - 1] ?? 0, runs.channelEnds[row]!];
  if (from === to) return true;
  return channels.channels.subarray(from, to).some((number) => wanted[number]);
}

/** The selected messages of a chunk by the message indexes behind it, which may be damaged too. */
async function countLost({
  context,
  page: { runs },
  row,
  channels,
  wanted,
  options,
}: DamagedRun): Promise<number | undefined> {
  const offset = runs.offsets[row]! + runs.recordBytes[row]!;
  const bytes = await context.source.read(offset, runs.indexesBytes[row]!);
  const ids = new Set(channels.flatMap(({ id }, number) => (wanted[number] ? [id] : [])));
  try {
    return countSelected(bytes, ids, options);
  } catch (error) {
    if (error instanceof RecordingFault) return undefined;
    throw error;
  }
}

function countSelected(
  bytes: Uint8Array,
  ids: ReadonlySet<number>,
  { startNs = 0n, endNs = 2n ** 64n }: ExportSelection,
): number {
  const cursor = openCursor(bytes, "the message indexes");
  let count = 0;
  while (cursor.position < bytes.byteLength) {
    readBytes(cursor, 9);
    const isWanted = ids.has(readU16(cursor));
    const end = readU32(cursor) + cursor.position;
    while (cursor.position < end) {
      const timeNs = readU64(cursor);
      readBytes(cursor, 8);
      if (isWanted && timeNs >= startNs && timeNs <= endNs) count += 1;
    }
  }
  return count;
}

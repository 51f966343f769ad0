import { type Reason, RecordingError } from "../../faults/reasons.ts";
import { openCursor, readBytes, readU16, readU32, readU64 } from "../../reading/field-cursor.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import type { MetadataRecord } from "../../survey/summary.ts";
import type { DamageLine } from "../../verified/index-layout.ts";
import type { RunPage } from "../../verified/index-pages.ts";
import type { IndexedChannel, VerifiedIndex } from "../../verified/read-index.ts";
import type { ExportSelection, ExportSource, SkippedDamage } from "./export-options.ts";

export interface DamagedRun {
  readonly source: ExportSource;
  readonly context: ReadContext;
  readonly page: RunPage;
  readonly row: number;
  readonly channels: readonly IndexedChannel[];
  /** Whether a channel is wanted, by its number. */
  readonly wanted: readonly boolean[];
  readonly options: ExportSelection;
}

/** The damaged parts that were left out of the written file, for a metadata record in it. */
export class DamageReport {
  readonly #onSkipped: ((damage: SkippedDamage) => void) | undefined;
  /** The damage that the index of each source names, by its offset. */
  readonly #reasons = new Map<string, Map<number, DamageLine>>();
  readonly #listed: SkippedDamage[] = [];
  readonly #attachments: { source: string; name: string }[] = [];
  readonly #ranges: object[] = [];
  #runCount = 0;
  #messagesLost = 0;
  #isCountKnown = true;

  constructor(onSkipped?: (damage: SkippedDamage) => void) {
    this.#onSkipped = onSkipped;
  }

  /** Adds what an index says is missing whatever is selected: parts of a recording that make no sense. */
  async addIndexed(source: string, index: VerifiedIndex): Promise<void> {
    if (!index.head.damage) return;
    const lines = await index.damage();
    const chunks = lines.filter(({ kind }) => kind === "chunk");
    this.#reasons.set(source, new Map(chunks.map((line) => [line.offset, line])));
    for (const { kind, offset, code, text, name, messagesLost } of lines) {
      if (kind === "attachment") this.#attachments.push({ source, name: name ?? "" });
      if (kind !== "gap" && kind !== "untraced") continue;
      this.#ranges.push({ source, offset, code, reason: text, messagesLost });
      this.#countLost(messagesLost);
    }
  }

  /** Adds a damaged run in the window, if it may hold something that is wanted. */
  async addRun(run: DamagedRun): Promise<void> {
    if (!mayBeWanted(run)) return;
    const source = run.source.fileName;
    const offset = run.page.runs.offsets[run.row]!;
    const line = this.#reasons.get(source)?.get(offset);
    const messagesLost = line?.messagesLost === undefined ? undefined : await countLost(run);
    const damage: SkippedDamage = { source, offset, reason: reasonOf(line, offset), messagesLost };
    this.#runCount += 1;
    this.#countLost(messagesLost);
    if (this.#listed.length < MAX_LISTED) this.#listed.push(damage);
    this.#onSkipped?.(damage);
  }

  /** Answers undefined if nothing was left out. */
  toMetadata(): MetadataRecord | undefined {
    if (this.#runCount + this.#attachments.length + this.#ranges.length === 0) return undefined;
    const messagesLost = this.#isCountKnown ? `${this.#messagesLost}` : `at least ${this.#messagesLost}`;
    const metadata: Record<string, string> = { skippedChunks: `${this.#runCount}`, messagesLost };
    const listed = this.#listed.toSorted(byPlace);
    for (const [index, damage] of listed.entries()) metadata[`skipped.${index + 1}`] = describe(damage);
    if (this.#ranges.length > 0) metadata.skippedRanges = firstListed(this.#ranges);
    if (this.#attachments.length > 0) metadata.skippedAttachments = firstListed(this.#attachments);
    return { name: "downlink.export", metadata };
  }

  #countLost(messagesLost: number | undefined): void {
    this.#messagesLost += messagesLost ?? 0;
    this.#isCountKnown &&= messagesLost !== undefined;
  }
}

function reasonOf(line: DamageLine | undefined, offset: number): Reason {
  const text = line?.text ?? `the chunk at byte ${offset} is damaged`;
  return { code: (line?.code ?? "BadChunk") as Reason["code"], text };
}

function firstListed(items: readonly object[]): string {
  return JSON.stringify(items.slice(0, MAX_LISTED));
}

const MAX_LISTED = 1000;

function describe({ source, offset, reason, messagesLost }: SkippedDamage): string {
  return JSON.stringify({ source, offset, code: reason.code, reason: reason.text, messagesLost });
}

function byPlace(a: SkippedDamage, b: SkippedDamage): number {
  if (a.source === b.source) return a.offset - b.offset;
  return a.source < b.source ? -1 : 1;
}

/** Whether a run may hold something wanted: its message indexes name a wanted channel, or there are none. */
function mayBeWanted({ page: { runs, channels }, row, wanted }: DamagedRun): boolean {
  const [from, to] = [runs.channelEnds[row - 1] ?? 0, runs.channelEnds[row]!];
  if (from === to) return true;
  return channels.channels.subarray(from, to).some((number) => wanted[number]);
}

/** Counts the selected messages of a chunk by the message indexes behind it. Answers undefined if they are damaged too. */
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
    if (error instanceof RecordingError) return undefined;
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

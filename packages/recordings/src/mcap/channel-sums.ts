import { copyColumns } from "../memory/columns.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import type { RunChannel } from "../verified/verified-run.ts";
import { opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

/** One message: where its record stands among the records, and its log time in halves of 32 bits, because a `bigint` would be allocated. */
export interface SummedMessage {
  channelId: number;
  timeHigh: number;
  timeLow: number;
  start: number;
  end: number;
  /** Its time does not fit into signed 64 bits: no recorder can have written it. It is counted, and left out of spans. */
  isLate: boolean;
}

const ID_COUNT = 65_536;
const ENTRY_BYTES = 16;
const INDEX_HEAD_BYTES = RECORD_HEAD_BYTES + 6;

/** Each channel that is met, or that an index names, has a slot in these columns. */
function createColumns(room: number) {
  return {
    ids: new Uint16Array(room),
    counts: new Uint32Array(room),
    /** The messages whose times count. */
    timedCounts: new Uint32Array(room),
    bytes: new Float64Array(room),
    lastEnds: new Float64Array(room),
    firstHighs: new Uint32Array(room),
    firstLows: new Uint32Array(room),
    lastHighs: new Uint32Array(room),
    lastLows: new Uint32Array(room),
    maxGaps: new Float64Array(room),
    indexStarts: new Float64Array(room),
    nextEntries: new Float64Array(room),
    entriesEnds: new Float64Array(room),
  };
}

type Columns = ReturnType<typeof createColumns>;

/**
 * Sums the messages of some records up by channel, and compares them with the message indexes that are said to name them. It works in the
 * same memory again and again: a chunk of a few kilobytes may hold 30 million messages, or 65,536 channels.
 */
export class ChannelSums {
  #sums = createColumns(64);
  /** For each channel id its slot plus 1, or 0 while it has none. */
  readonly #slots = new Uint32Array(ID_COUNT);
  #slotCount = 0;
  /** The message indexes, until one of them contradicts the messages. */
  #indexes: DataView | undefined;

  /** Starts over. `indexes` are the message indexes behind the records; undefined if there are none to compare with. */
  begin(indexes: Uint8Array | undefined): void {
    for (let slot = 0; slot < this.#slotCount; slot += 1) this.#slots[this.#sums.ids[slot]!] = 0;
    this.#slotCount = 0;
    this.#indexes = indexes && this.#openIndexes(indexes);
  }

  add(message: SummedMessage): void {
    const { channelId, start, end } = message;
    const known = this.#slots[channelId]!;
    const slot = known === 0 ? this.#addSlot(channelId) : known - 1;
    const sums = this.#sums;
    if (!message.isLate) noteTime(sums, slot, message);
    sums.counts[slot]! += 1;
    sums.bytes[slot]! += end - start;
    sums.lastEnds[slot] = end;
    if (this.#indexes === undefined) return;
    if (this.#isNextEntry(this.#indexes, slot, message)) sums.nextEntries[slot]! += ENTRY_BYTES;
    else this.#indexes = undefined;
  }

  toChannels(): RunChannel[] {
    const slots = this.#slotNumbers().filter((slot) => this.#sums.counts[slot]! > 0);
    return slots.map((slot) => toChannel(this.#sums, slot));
  }

  /** Whether the message indexes named each message once and in the order of the records, and nothing else. */
  areIndexesTrue(): boolean {
    const { nextEntries, entriesEnds } = this.#sums;
    return this.#indexes !== undefined && this.#slotNumbers().every((slot) => nextEntries[slot] === entriesEnds[slot]);
  }

  /** Answers undefined if they cannot be true, whatever the messages are. */
  #openIndexes(indexes: Uint8Array): DataView | undefined {
    for (let at = 0; at < indexes.byteLength; ) {
      const index = readIndexHead(indexes, at);
      if (!index || this.#slots[index.channelId] !== 0) return undefined;
      const slot = this.#addSlot(index.channelId);
      this.#sums.indexStarts[slot] = at;
      this.#sums.nextEntries[slot] = at + INDEX_HEAD_BYTES;
      this.#sums.entriesEnds[slot] = index.end;
      at = index.end;
    }
    return viewOf(indexes);
  }

  #isNextEntry(indexes: DataView, slot: number, { timeHigh, timeLow, start }: SummedMessage): boolean {
    const at = this.#sums.nextEntries[slot]!;
    return (
      at < this.#sums.entriesEnds[slot]! &&
      indexes.getUint32(at, true) === timeLow &&
      indexes.getUint32(at + 4, true) === timeHigh &&
      indexes.getUint32(at + 8, true) + indexes.getUint32(at + 12, true) * 2 ** 32 === start
    );
  }

  #addSlot(channelId: number): number {
    const slot = this.#slotCount;
    if (slot === this.#sums.ids.length) this.#sums = copyColumns(this.#sums, createColumns(4 * slot));
    this.#slotCount += 1;
    this.#slots[channelId] = this.#slotCount;
    beginSlot(this.#sums, slot, channelId);
    return slot;
  }

  #slotNumbers(): number[] {
    return Array.from({ length: this.#slotCount }, (_, slot) => slot);
  }
}

function beginSlot(sums: Columns, slot: number, channelId: number): void {
  sums.ids[slot] = channelId;
  sums.counts[slot] = 0;
  sums.timedCounts[slot] = 0;
  sums.bytes[slot] = 0;
  sums.maxGaps[slot] = 0;
  sums.indexStarts[slot] = -1;
  sums.nextEntries[slot] = 0;
  sums.entriesEnds[slot] = 0;
}

/** Nearly all messages come later than the one before them in their channel. */
function noteTime(sums: Columns, slot: number, message: SummedMessage): void {
  const { timeHigh, timeLow } = message;
  const isFirst = sums.timedCounts[slot] === 0;
  sums.timedCounts[slot]! += 1;
  const gap = isFirst ? 0 : (timeHigh - sums.lastHighs[slot]!) * 2 ** 32 + (timeLow - sums.lastLows[slot]!);
  if (gap >= 0) {
    sums.lastHighs[slot] = timeHigh;
    sums.lastLows[slot] = timeLow;
    if (gap > sums.maxGaps[slot]!) sums.maxGaps[slot] = gap;
  } else sums.maxGaps[slot] = Infinity;
  if (isFirst || (gap < 0 && isBeforeFirst(sums, slot, message))) {
    sums.firstHighs[slot] = timeHigh;
    sums.firstLows[slot] = timeLow;
  }
}
function isBeforeFirst(sums: Columns, slot: number, { timeHigh, timeLow }: SummedMessage): boolean {
  const firstHigh = sums.firstHighs[slot]!;
  return timeHigh < firstHigh || (timeHigh === firstHigh && timeLow < sums.firstLows[slot]!);
}

function toChannel(sums: Columns, slot: number): RunChannel {
  const isTimed = sums.timedCounts[slot]! > 0;
  return {
    channelId: sums.ids[slot]!,
    messageCount: sums.counts[slot]!,
    startNs: isTimed ? timeOfHalves(sums.firstHighs[slot]!, sums.firstLows[slot]!) : MAX_TIME_NS,
    endNs: isTimed ? timeOfHalves(sums.lastHighs[slot]!, sums.lastLows[slot]!) : MAX_TIME_NS,
    ...(!isTimed && { isLate: true }),
    maxGapNs: sums.maxGaps[slot]!,
    recordsBytes: sums.bytes[slot]!,
    lastEnd: sums.lastEnds[slot]!,
    indexStart: sums.indexStarts[slot]!,
  };
}

export function timeOfHalves(high: number, low: number): bigint {
  return (BigInt(high) << 32n) + BigInt(low);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Answers undefined if no whole message index stands there, or if its length is not that of its entries. */
function readIndexHead(indexes: Uint8Array, at: number): { channelId: number; end: number } | undefined {
  if (at + INDEX_HEAD_BYTES > indexes.byteLength || indexes[at] !== opcodes.messageIndex) return undefined;
  const view = viewOf(indexes);
  const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
  const entriesBytes = view.getUint32(at + RECORD_HEAD_BYTES + 2, true);
  const end = at + RECORD_HEAD_BYTES + contentBytes;
  const isWhole = end <= indexes.byteLength && contentBytes === entriesBytes + 6 && entriesBytes % ENTRY_BYTES === 0;
  return isWhole ? { channelId: view.getUint16(at + RECORD_HEAD_BYTES, true), end } : undefined;
}

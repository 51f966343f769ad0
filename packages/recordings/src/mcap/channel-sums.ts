import { copyColumns } from "../memory/columns.ts";
import type { RunChannel } from "../verified/verified-run.ts";
import { opcodes, recordHeadBytes } from "./opcodes.ts";

/** Of the messages of some records, summed up by channel, and compared with the message indexes that are said to name them. */
export interface ChannelSums {
  /** Begins anew. `indexes`: the message indexes behind the records; undefined where there are none to compare with. */
  begin(indexes: Uint8Array | undefined): void;
  /** `start`, `end`: of the message's record among the records. The log time is in halves of 32 bits. */
  add(message: SummedMessage): void;
  toChannels(): RunChannel[];
  /** Whether the message indexes named each message once and in the order of the records, and nothing else. */
  areIndexesTrue(): boolean;
}

export interface SummedMessage {
  channelId: number;
  timeHigh: number;
  timeLow: number;
  start: number;
  end: number;
}

const idCount = 65_536;
const entryBytes = 16;
const indexHeadBytes = recordHeadBytes + 6;

/** By slot: each channel that is met, or that an index names, has one. */
function createColumns(room: number) {
  return {
    ids: new Uint16Array(room),
    counts: new Uint32Array(room),
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

/** Works in the same memory again and again: a chunk of a few kilobytes may hold 30 million messages, or 65,536 channels. */
export function createChannelSums(): ChannelSums {
  let sums = createColumns(64);
  /** By channel id: its slot, plus 1. */
  const slots = new Uint32Array(idCount);
  let slotCount = 0;
  let entries: DataView | undefined;

  const addSlot = (channelId: number): number => {
    const slot = slotCount;
    if (slot === sums.ids.length) sums = copyColumns(sums, createColumns(4 * slot));
    slotCount += 1;
    slots[channelId] = slotCount;
    sums.ids[slot] = channelId;
    sums.counts[slot] = 0;
    sums.bytes[slot] = 0;
    sums.maxGaps[slot] = 0;
    sums.indexStarts[slot] = -1;
    sums.nextEntries[slot] = 0;
    sums.entriesEnds[slot] = 0;
    return slot;
  };
  const reset = (): void => {
    for (let slot = 0; slot < slotCount; slot += 1) slots[sums.ids[slot]!] = 0;
    slotCount = 0;
  };
  const openIndexes = (indexes: Uint8Array): DataView | undefined => {
    for (let at = 0; at < indexes.byteLength; ) {
      const index = readIndexHead(indexes, at);
      if (!index || slots[index.channelId] !== 0) return undefined;
      const slot = addSlot(index.channelId);
      sums.indexStarts[slot] = at;
      sums.nextEntries[slot] = at + indexHeadBytes;
      sums.entriesEnds[slot] = index.end;
      at = index.end;
    }
    return viewOf(indexes);
  };
  const isNextEntry = (slot: number, { timeHigh, timeLow, start }: SummedMessage): boolean => {
    const at = sums.nextEntries[slot]!;
    return (
      at < sums.entriesEnds[slot]! &&
      entries!.getUint32(at, true) === timeLow &&
      entries!.getUint32(at + 4, true) === timeHigh &&
      entries!.getUint32(at + 8, true) + entries!.getUint32(at + 12, true) * 2 ** 32 === start
    );
  };
  const add = (message: SummedMessage): void => {
    const { channelId, start, end } = message;
    const slot = slots[channelId] === 0 ? addSlot(channelId) : slots[channelId]! - 1;
    noteTime(sums, slot, message);
    sums.counts[slot]! += 1;
    sums.bytes[slot]! += end - start;
    sums.lastEnds[slot] = end;
    if (!entries) return;
    if (isNextEntry(slot, message)) sums.nextEntries[slot]! += entryBytes;
    else entries = undefined;
  };
  const toChannel = (slot: number): RunChannel => ({
    channelId: sums.ids[slot]!,
    messageCount: sums.counts[slot]!,
    startNs: toTime(sums.firstHighs[slot]!, sums.firstLows[slot]!),
    endNs: toTime(sums.lastHighs[slot]!, sums.lastLows[slot]!),
    maxGapNs: sums.maxGaps[slot]!,
    recordsBytes: sums.bytes[slot]!,
    lastEnd: sums.lastEnds[slot]!,
    indexStart: sums.indexStarts[slot]!,
  });
  const slotNumbers = () => Array.from({ length: slotCount }, (_, slot) => slot);
  return {
    begin(indexes) {
      reset();
      entries = indexes && openIndexes(indexes);
    },
    add,
    toChannels: () =>
      slotNumbers()
        .filter((slot) => sums.counts[slot]! > 0)
        .map(toChannel),
    areIndexesTrue: () =>
      entries !== undefined && slotNumbers().every((slot) => sums.nextEntries[slot] === sums.entriesEnds[slot]),
  };
}

/** Before the message is counted. Nearly all come later than the last one of their channel. */
function noteTime(sums: Columns, slot: number, { timeHigh, timeLow }: SummedMessage): void {
  const isFirst = sums.counts[slot] === 0;
  const gap = isFirst ? 0 : (timeHigh - sums.lastHighs[slot]!) * 2 ** 32 + (timeLow - sums.lastLows[slot]!);
  if (gap >= 0) {
    sums.lastHighs[slot] = timeHigh;
    sums.lastLows[slot] = timeLow;
    if (gap > sums.maxGaps[slot]!) sums.maxGaps[slot] = gap;
  } else sums.maxGaps[slot] = Infinity;
  if (isFirst || (gap < 0 && isBefore(timeHigh, timeLow, sums.firstHighs[slot]!, sums.firstLows[slot]!))) {
    sums.firstHighs[slot] = timeHigh;
    sums.firstLows[slot] = timeLow;
  }
}

function isBefore(high: number, low: number, otherHigh: number, otherLow: number): boolean {
  return high < otherHigh || (high === otherHigh && low < otherLow);
}

function toTime(high: number, low: number): bigint {
  return (BigInt(high) << 32n) + BigInt(low);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Undefined where no whole message index stands, or one of another length than its entries. */
function readIndexHead(indexes: Uint8Array, at: number): { channelId: number; end: number } | undefined {
  if (at + indexHeadBytes > indexes.byteLength || indexes[at] !== opcodes.messageIndex) return undefined;
  const view = viewOf(indexes);
  const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
  const entriesBytes = view.getUint32(at + recordHeadBytes + 2, true);
  const end = at + recordHeadBytes + contentBytes;
  const isWhole = end <= indexes.byteLength && contentBytes === entriesBytes + 6 && entriesBytes % entryBytes === 0;
  return isWhole ? { channelId: view.getUint16(at + recordHeadBytes, true), end } : undefined;
}

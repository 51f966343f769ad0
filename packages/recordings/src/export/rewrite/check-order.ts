import { messageHeadBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import type { ChannelIndex } from "./seal-chunk.ts";

export interface IndexedChunk {
  startNs: bigint;
  endNs: bigint;
  uncompressedBytes: number;
}

/**
 * Reads the message indexes behind a chunk; `start` is counted from the beginning of `indexes`. `undefined` unless they prove
 * that its messages are in order of log time and fill its span: only then may the chunk be passed on as it is.
 */
export type OrderCheck = (indexes: Uint8Array, chunk: IndexedChunk) => ChannelIndex[] | undefined;

/** Works in one piece of memory, which grows with the chunks. */
export function createOrderCheck(): OrderCheck {
  let entries = createEntries(1024);
  let slots = new Float64Array(0);
  return (indexes, chunk) => {
    const mostEntries = Math.floor(indexes.byteLength / entryBytes);
    const slotCount = Math.floor(chunk.uncompressedBytes / smallestMessageBytes) + 1;
    const spanNs = chunk.endNs - chunk.startNs;
    if (mostEntries > maxEntries || spanNs > maxSpanNs) return undefined;
    if (entries.offsets.length < mostEntries) entries = createEntries(mostEntries);
    entries.count = 0;
    const channels = readIndexes(indexes, chunk, entries);
    if (!channels) return undefined;
    const isSparse = entries.count * 16 < slotCount;
    if (!isSparse && slots.length < slotCount) slots = new Float64Array(slotCount);
    const times = isSparse ? sortByOffset(entries) : placeByOffset(entries, slots.subarray(0, slotCount));
    return times && isInOrder(times, Number(spanNs)) ? channels : undefined;
  };
}

/** Two messages never begin within so many bytes. */
const smallestMessageBytes = recordHeadBytes + messageHeadBytes;
const maxEntries = 2 ** 22;
/** Times count from the chunk's start, in numbers that hold 53 bits: 104 days. */
const maxSpanNs = 2n ** 53n - 2n;

/** Where messages begin in the chunk, and nanoseconds since its start, plus 1. */
interface Entries {
  count: number;
  offsets: Uint32Array;
  times: Float64Array;
}

function createEntries(room: number): Entries {
  return { count: 0, offsets: new Uint32Array(room), times: new Float64Array(room) };
}

function readIndexes(indexes: Uint8Array, chunk: IndexedChunk, entries: Entries): ChannelIndex[] | undefined {
  const view = new DataView(indexes.buffer, indexes.byteOffset, indexes.byteLength);
  const channels: ChannelIndex[] = [];
  for (let start = 0; start < indexes.byteLength; ) {
    if (start + indexHeadBytes > indexes.byteLength || indexes[start] !== opcodes.messageIndex) return undefined;
    const contentBytes = Number(view.getBigUint64(start + 1, true));
    const entriesBytes = view.getUint32(start + 11, true);
    const end = start + recordHeadBytes + contentBytes;
    const isWhole = end <= indexes.byteLength && contentBytes === entriesBytes + 6 && entriesBytes % entryBytes === 0;
    if (!isWhole || !readEntries({ view, from: start + indexHeadBytes, to: end }, chunk, entries)) return undefined;
    channels.push({ channelId: view.getUint16(start + 9, true), messageCount: entriesBytes / entryBytes, start });
    start = end;
  }
  return channels;
}

const indexHeadBytes = recordHeadBytes + 6;
const entryBytes = 16;

/** In halves of 32 bits, because 64-bit numbers would cost an allocation for each message. */
function readEntries(
  { view, from, to }: { view: DataView; from: number; to: number },
  { startNs, uncompressedBytes }: IndexedChunk,
  entries: Entries,
): boolean {
  const startLow = Number(startNs & 0xffffffffn);
  const startHigh = Number(startNs >> 32n);
  for (let at = from; at < to; at += entryBytes) {
    const sinceNs = (view.getUint32(at + 4, true) - startHigh) * 2 ** 32 + view.getUint32(at, true) - startLow;
    const offset = view.getUint32(at + 8, true);
    const isInside = view.getUint32(at + 12, true) === 0 && offset + smallestMessageBytes <= uncompressedBytes;
    if (sinceNs < 0 || !isInside) return false;
    entries.offsets[entries.count] = offset;
    entries.times[entries.count] = sinceNs + 1;
    entries.count += 1;
  }
  return true;
}

/** The times in the order of the messages; for few large messages. `undefined` when two would overlap. */
function sortByOffset({ count, offsets, times }: Entries): Float64Array | undefined {
  const order = Array.from({ length: count }, (_, index) => index).sort((a, b) => offsets[a]! - offsets[b]!);
  const isApart = (index: number, at: number): boolean =>
    at === 0 || offsets[index]! - offsets[order[at - 1]!]! >= smallestMessageBytes;
  if (!order.every(isApart)) return undefined;
  return Float64Array.from(order, (index) => times[index]!);
}

/**
 * The same for many small ones: each has a slot of its own, and 0 stands where there is none. `undefined` when two
 * share one.
 */
function placeByOffset({ count, offsets, times }: Entries, slots: Float64Array): Float64Array | undefined {
  slots.fill(0);
  for (let index = 0; index < count; index += 1) {
    const slot = Math.floor(offsets[index]! / smallestMessageBytes);
    if (slots[slot] !== 0) return undefined;
    slots[slot] = times[index]!;
  }
  return slots;
}

/** The first and the last message must also stand at both ends of the span. */
function isInOrder(times: Float64Array, spanNs: number): boolean {
  let last = 0;
  for (let index = 0; index < times.length; index += 1) {
    const time = times[index]!;
    if (time === 0) continue;
    if (time < last || (last === 0 && time !== 1)) return false;
    last = time;
  }
  return last === spanNs + 1;
}

import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { type Compression, compressSync } from "../../codecs/compress.ts";
import { emptyMessageBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { growColumn } from "../../memory/columns.ts";
import { maxWrittenChunkBytes } from "../../verified/verified-run.ts";
import { type Fragment, logTimeOffset } from "./fragment.ts";
import { createRecordMemory, type SummedRange } from "./record-memory.ts";

/** A chunk as it goes into the written file, its message indexes behind it. */
export interface SealedChunk {
  bytes: Uint8Array;
  /** CRC-32 of the bytes. */
  checksum: number;
  /** Of the chunk's record alone. */
  chunkBytes: number;
  indexesBytes: number;
  storedBytes: number;
  uncompressedBytes: number;
  startNs: bigint;
  endNs: bigint;
  channels: ChannelIndex[];
}

/** The message index of one channel; its record begins `start` bytes behind the beginning of the chunk. */
export interface ChannelIndex {
  channelId: number;
  messageCount: number;
  start: number;
}

/**
 * The records of a chunk that is being written. What is compressed stands in memory that is used again; what is not stands where the chunk
 * will be, with room for its head in front and for its indexes behind, and is copied no more. Messages come in order of log time.
 */
export interface ChunkBuilder {
  readonly sizeBytes: number;
  readonly count: number;
  /** Makes room for so much more at once; saves growing, and is no promise. */
  reserve(moreBytes: number, moreCount: number): void;
  /** Copies message records that stand side by side in `bytes`. */
  copy(bytes: Uint8Array, start: number, end: number): void;
  /** The same of records that stay as they are, and whose CRC-32 is known. */
  copySummed(bytes: Uint8Array, range: SummedRange): void;
  /** Announces a message record that begins `start` bytes behind what was copied so far, before it is copied. */
  mark(start: number): void;
  /** The same of several, by their places among bytes of which those from `from` on are copied next. */
  markAll(places: Uint32Array, from: number): void;
  /** Gives the last marked message the channel id of the written file, after it was copied. */
  setChannel(index: number, channelId: number): void;
  /** The chunk with its message indexes, and begins anew. There is at least one message. */
  seal(): SealedChunk;
  /** What is too little for a chunk, with memory of its own, and begins anew. */
  take(): Fragment;
}

export function createChunkBuilder(compression: Compression): ChunkBuilder {
  const headBytes = fixedHeadBytes + compression.length;
  const isPlain = compression === "";
  const origin = isPlain ? headBytes : 0;
  const memory = createRecordMemory(origin);
  let starts = new Uint32Array(4096);
  let count = 0;
  const indexes = createMessageIndexes();

  const reserve = (moreBytes: number, moreCount: number): void => {
    if (!isPlain) return;
    const bytes = Math.min(memory.sizeBytes + moreBytes, maxWrittenChunkBytes);
    const mostCount = Math.min(count + moreCount, Math.ceil(bytes / emptyMessageBytes));
    memory.reserve(origin + bytes + mostIndexBytes(mostCount));
  };
  const makeRoomFor = (moreCount: number): void => {
    if (count + moreCount > starts.length) starts = growColumn(starts, count + moreCount);
  };
  const mark = (start: number): void => {
    makeRoomFor(1);
    starts[count] = memory.sizeBytes + start;
    count += 1;
  };
  const markAll = (places: Uint32Array, from: number): void => {
    makeRoomFor(places.length);
    const shift = memory.sizeBytes - from;
    for (let index = 0; index < places.length; index += 1) starts[count + index] = places[index]! + shift;
    count += places.length;
  };
  const timeAt = (index: number): bigint => memory.view.getBigUint64(starts[index]! + logTimeOffset, true);
  /** Where the chunk stands with its indexes; memory of its own. */
  const place = (stored: Uint8Array, totalBytes: number): Buffer => {
    if (isPlain) return memory.whole(totalBytes);
    const bytes = Buffer.allocUnsafeSlow(totalBytes);
    bytes.set(stored, headBytes);
    return bytes;
  };
  const seal = (): SealedChunk => {
    const crc = memory.sum();
    const stored = compressSync(compression, memory.records());
    const chunkBytes = headBytes + stored.byteLength;
    const channels = indexes.place({ view: memory.view, starts, count }, chunkBytes);
    const last = channels.at(-1)!;
    const bytes = place(stored, last.start + indexBytes(last.messageCount));
    const facts = {
      chunkBytes,
      storedBytes: stored.byteLength,
      uncompressedBytes: memory.sizeBytes,
      startNs: timeAt(0),
      endNs: timeAt(count - 1),
    };
    writeChunkHead(bytes, { ...facts, crc, compression });
    indexes.write(bytes, channels, { view: memory.view, starts, count });
    memory.begin(isPlain);
    count = 0;
    const storedCrc = isPlain ? crc : crc32(stored);
    const chunkCrc = combineChecksums(crc32(bytes.subarray(0, headBytes)), storedCrc, stored.byteLength);
    const indexesBytes = bytes.byteLength - chunkBytes;
    const checksum = combineChecksums(chunkCrc, crc32(bytes.subarray(chunkBytes)), indexesBytes);
    return { bytes, indexesBytes, channels, checksum, ...facts };
  };
  const take = (): Fragment => {
    const own = new Uint8Array(memory.records());
    const ownStarts = starts.slice(0, count);
    const timesNs = new BigUint64Array(count);
    for (let index = 0; index < count; index += 1) timesNs[index] = timeAt(index);
    memory.begin(false);
    count = 0;
    return { records: own, starts: ownStarts, timesNs };
  };
  return {
    get sizeBytes() {
      return memory.sizeBytes;
    },
    get count() {
      return count;
    },
    reserve,
    copy: memory.append,
    copySummed: memory.appendSummed,
    mark,
    markAll,
    setChannel: (index, channelId) => memory.view.setUint16(starts[index]! + recordHeadBytes, channelId, true),
    seal,
    take,
  };
}

/** Times, sizes, checksum and lengths. */
const fixedHeadBytes = recordHeadBytes + 8 + 8 + 8 + 4 + 4 + 8;

interface ChunkHead
  extends Pick<SealedChunk, "chunkBytes" | "storedBytes" | "uncompressedBytes" | "startNs" | "endNs"> {
  crc: number;
  compression: Compression;
}

/** Of a chunk whose content is written in pieces. */
export function encodeChunkHead(head: Omit<ChunkHead, "chunkBytes">): Buffer {
  const bytes = Buffer.alloc(fixedHeadBytes + head.compression.length);
  writeChunkHead(bytes, { ...head, chunkBytes: bytes.byteLength + head.storedBytes });
  return bytes;
}

/** spec: MCAP "Chunk". */
function writeChunkHead(bytes: Buffer, head: ChunkHead): void {
  bytes.writeUInt8(opcodes.chunk, 0);
  bytes.writeBigUInt64LE(BigInt(head.chunkBytes - recordHeadBytes), 1);
  bytes.writeBigUInt64LE(head.startNs, 9);
  bytes.writeBigUInt64LE(head.endNs, 17);
  bytes.writeBigUInt64LE(BigInt(head.uncompressedBytes), 25);
  bytes.writeUInt32LE(head.crc, 33);
  bytes.writeUInt32LE(head.compression.length, 37);
  bytes.write(head.compression, 41);
  bytes.writeBigUInt64LE(BigInt(head.storedBytes), 41 + head.compression.length);
}

/** Messages of a chunk that is being written: where the record of each begins. */
interface MarkedMessages {
  view: DataView;
  starts: Uint32Array;
  count: number;
}

/** The message indexes of one chunk after another, in the same memory. spec: MCAP "Message Index" */
interface MessageIndexes {
  /** Where the index of each channel will stand behind a chunk's record, in the order in which the channels appear. */
  place(messages: MarkedMessages, chunkBytes: number): ChannelIndex[];
  write(bytes: Uint8Array, channels: readonly ChannelIndex[], messages: MarkedMessages): void;
}

function createMessageIndexes(): MessageIndexes {
  /** By channel id; all 0 in between. */
  const counts = new Uint32Array(channelCount);
  const nexts = new Uint32Array(channelCount);
  return {
    place({ view, starts, count }, chunkBytes) {
      const channelIds: number[] = [];
      for (let index = 0; index < count; index += 1) {
        const channelId = view.getUint16(starts[index]! + recordHeadBytes, true);
        const before = counts[channelId]!;
        if (before === 0) channelIds.push(channelId);
        counts[channelId] = before + 1;
      }
      let start = chunkBytes;
      return channelIds.map((channelId) => {
        const placed = { channelId, messageCount: counts[channelId]!, start };
        counts[channelId] = 0;
        start += indexBytes(placed.messageCount);
        return placed;
      });
    },
    write(bytes, channels, { view, starts, count }) {
      const to = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (const channel of channels) {
        writeIndexHead(to, channel);
        nexts[channel.channelId] = channel.start + indexHeadBytes;
      }
      for (let index = 0; index < count; index += 1) {
        const start = starts[index]!;
        const channelId = view.getUint16(start + recordHeadBytes, true);
        const at = nexts[channelId]!;
        nexts[channelId] = at + entryBytes;
        // Compiled, a number of 64 bits that goes from one place to another costs no allocation.
        to.setBigUint64(at, view.getBigUint64(start + logTimeOffset, true), true);
        to.setUint32(at + 8, start, true);
        to.setUint32(at + 12, 0, true);
      }
    },
  };
}

const channelCount = 65_536;
const indexHeadBytes = recordHeadBytes + 6;
const entryBytes = 16;

function indexBytes(messageCount: number): number {
  return indexHeadBytes + messageCount * entryBytes;
}

/** Of so many messages, unless they are of very many channels. */
function mostIndexBytes(messageCount: number): number {
  return messageCount * entryBytes + Math.min(messageCount, usualChannels) * indexHeadBytes;
}

const usualChannels = 256;

function writeIndexHead(to: DataView, { channelId, messageCount, start }: ChannelIndex): void {
  to.setUint8(start, opcodes.messageIndex);
  to.setBigUint64(start + 1, BigInt(indexBytes(messageCount) - recordHeadBytes), true);
  to.setUint16(start + recordHeadBytes, channelId, true);
  to.setUint32(start + recordHeadBytes + 2, messageCount * entryBytes, true);
}

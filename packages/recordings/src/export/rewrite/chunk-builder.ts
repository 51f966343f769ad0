import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { type Compression, compressSync } from "../../codecs/compress.ts";
import { emptyMessageBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { growColumn } from "../../memory/columns.ts";
import { maxWrittenChunkBytes } from "../../verified/verified-run.ts";
import { type Fragment, logTimeOffset } from "./fragment.ts";
import { createMessageIndexes, indexBytes, mostIndexBytes } from "./message-indexes.ts";
import { createRecordMemory, type SummedRange } from "./record-memory.ts";
import type { SealedChunk } from "./sealed-chunk.ts";

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
    writeHead(bytes, { ...facts, crc, compression });
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
  writeHead(bytes, { ...head, chunkBytes: bytes.byteLength + head.storedBytes });
  return bytes;
}

/** spec: MCAP "Chunk". */
function writeHead(bytes: Buffer, head: ChunkHead): void {
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

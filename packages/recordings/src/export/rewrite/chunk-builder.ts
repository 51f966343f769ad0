import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { type Compression, compressSync } from "../../codecs/compress.ts";
import { opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { type Fragment, logTimeOffset } from "./fragment.ts";
import { createMessageIndexes, indexBytes } from "./message-indexes.ts";
import type { SealedChunk } from "./sealed-chunk.ts";

/**
 * The records of a chunk that is being written, in memory that is used again: a new piece for each would cost page faults that take
 * longer than the copying. Messages come in order of log time.
 */
export interface ChunkBuilder {
  readonly sizeBytes: number;
  readonly count: number;
  /** Copies message records that stand side by side in `bytes`. */
  copy(bytes: Uint8Array, start: number, end: number): void;
  /** Announces a message record that begins `start` bytes behind what was copied so far, before it is copied. */
  mark(start: number): void;
  /** Gives the last marked message the channel id of the written file, after it was copied. */
  setChannel(index: number, channelId: number): void;
  /** The chunk with its message indexes, and begins anew. There is at least one message. */
  seal(): SealedChunk;
  /** What is too little for a chunk, with memory of its own, and begins anew. */
  take(): Fragment;
}

export function createChunkBuilder(compression: Compression): ChunkBuilder {
  let records = Buffer.allocUnsafeSlow(firstBytes);
  let view = viewOf(records);
  let starts = new Uint32Array(4096);
  let sizeBytes = 0;
  let count = 0;
  const indexes = createMessageIndexes();

  const reset = (): void => {
    sizeBytes = 0;
    count = 0;
    if (records.byteLength <= mostHeldBytes) return;
    records = Buffer.allocUnsafeSlow(firstBytes);
    view = viewOf(records);
  };
  const copy = (bytes: Uint8Array, start: number, end: number): void => {
    const next = sizeBytes + end - start;
    if (next > records.byteLength) {
      const grown = Buffer.allocUnsafeSlow(Math.max(2 * records.byteLength, next));
      grown.set(records.subarray(0, sizeBytes));
      records = grown;
      view = viewOf(records);
    }
    records.set(start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end), sizeBytes);
    sizeBytes = next;
  };
  const mark = (start: number): void => {
    if (count === starts.length) {
      const grown = new Uint32Array(2 * count);
      grown.set(starts);
      starts = grown;
    }
    starts[count] = sizeBytes + start;
    count += 1;
  };
  const seal = (): SealedChunk => {
    const written = records.subarray(0, sizeBytes);
    const stored = compressSync(compression, written);
    const chunkBytes = fixedHeadBytes + compression.length + stored.byteLength;
    const marked = { view, starts, count };
    const channels = indexes.place(marked, chunkBytes);
    const last = channels.at(-1)!;
    const bytes = Buffer.allocUnsafeSlow(last.start + indexBytes(last.messageCount));
    const crc = crc32(written);
    const facts = {
      chunkBytes,
      storedBytes: stored.byteLength,
      uncompressedBytes: sizeBytes,
      startNs: view.getBigUint64(starts[0]! + logTimeOffset, true),
      endNs: view.getBigUint64(starts[count - 1]! + logTimeOffset, true),
    };
    const headBytes = chunkBytes - stored.byteLength;
    writeHead(bytes, { ...facts, crc, compression });
    bytes.set(stored, headBytes);
    indexes.write(bytes, channels, marked);
    reset();
    const storedCrc = compression === "" ? crc : crc32(stored);
    const chunkCrc = combineChecksums(crc32(bytes.subarray(0, headBytes)), storedCrc, stored.byteLength);
    const indexesBytes = bytes.byteLength - chunkBytes;
    const checksum = combineChecksums(chunkCrc, crc32(bytes.subarray(chunkBytes)), indexesBytes);
    return { bytes, indexesBytes, channels, checksum, ...facts };
  };
  const take = (): Fragment => {
    const own = new Uint8Array(records.subarray(0, sizeBytes));
    const ownStarts = starts.slice(0, count);
    const timesNs = new BigUint64Array(count);
    for (let index = 0; index < count; index += 1)
      timesNs[index] = view.getBigUint64(ownStarts[index]! + logTimeOffset, true);
    reset();
    return { records: own, starts: ownStarts, timesNs };
  };
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    get count() {
      return count;
    },
    copy,
    mark,
    setChannel: (index, channelId) => view.setUint16(starts[index]! + recordHeadBytes, channelId, true),
    seal,
    take,
  };
}

const firstBytes = 1024 * 1024;
/** What a large message needed is given back. */
const mostHeldBytes = 16 * 1024 * 1024;

/** Times, sizes, checksum and lengths. */
const fixedHeadBytes = recordHeadBytes + 8 + 8 + 8 + 4 + 4 + 8;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

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

import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { type Compression, compressSync } from "../../codecs/compress.ts";
import { EMPTY_MESSAGE_BYTES, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { growColumn } from "../../memory/columns.ts";
import { freeOwn } from "../../memory/free-memory.ts";
import { MAX_WRITTEN_CHUNK_BYTES } from "../../verified/verified-run.ts";
import { chunkHeadBytes, writeChunkHead } from "./chunk-head.ts";
import { type Fragment, LOG_TIME_OFFSET } from "./fragment.ts";
import {
  type ChannelIndex,
  indexBytes,
  type MarkedMessages,
  MessageIndexes,
  mostIndexBytes,
} from "./message-indexes.ts";
import { RecordMemory, type SummedRange } from "./record-memory.ts";

/** A chunk as it goes into the written file, its message indexes behind it. */
export interface SealedChunk {
  readonly bytes: Uint8Array;
  /** CRC-32 of the bytes. */
  readonly checksum: number;
  /** The size of the chunk's record alone. */
  readonly chunkBytes: number;
  readonly indexesBytes: number;
  readonly storedBytes: number;
  readonly uncompressedBytes: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly channels: ChannelIndex[];
}

/**
 * Builds one chunk after another. Records that will be compressed stand in memory that is used again. Records that will not stand where the
 * chunk will be, with room for its head in front and for its indexes behind, and are not copied again. Messages come in order of log time.
 */
export class ChunkBuilder {
  readonly #compression: Compression;
  readonly #isPlain: boolean;
  readonly #headBytes: number;
  readonly #memory: RecordMemory;
  readonly #indexes = new MessageIndexes();
  /** Where the record of each message begins. */
  #starts = new Uint32Array(4096);
  #count = 0;

  constructor(compression: Compression) {
    this.#compression = compression;
    this.#isPlain = compression === "";
    this.#headBytes = chunkHeadBytes(compression);
    this.#memory = new RecordMemory(this.#isPlain ? this.#headBytes : 0);
  }

  get sizeBytes(): number {
    return this.#memory.sizeBytes;
  }

  get count(): number {
    return this.#count;
  }

  /** Makes room for about so much more at once, which saves growing. */
  reserve(moreBytes: number, moreCount: number): void {
    if (!this.#isPlain) return;
    const bytes = Math.min(this.sizeBytes + moreBytes, MAX_WRITTEN_CHUNK_BYTES);
    const mostCount = Math.min(this.#count + moreCount, Math.ceil(bytes / EMPTY_MESSAGE_BYTES));
    this.#memory.reserve(this.#headBytes + bytes + mostIndexBytes(mostCount));
  }

  /** Copies message records that stand side by side in `bytes`. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    this.#memory.append(bytes, start, end);
  }

  /** Copies records that will not be changed, and whose CRC-32 is known. */
  copySummed(bytes: Uint8Array, range: SummedRange): void {
    this.#memory.appendSummed(bytes, range);
  }

  /** Announces a message record that begins `start` bytes behind what was copied so far, before it is copied. */
  mark(start: number): void {
    this.#makeRoom(1);
    this.#starts[this.#count] = this.#memory.sizeBytes + start;
    this.#count += 1;
  }

  /** Announces several message records, by their places among bytes of which those from `from` on are copied next. */
  markAll(places: Uint32Array, from: number): void {
    this.#makeRoom(places.length);
    const starts = this.#starts;
    const count = this.#count;
    const shift = this.#memory.sizeBytes - from;
    for (let index = 0; index < places.length; index += 1) starts[count + index] = places[index]! + shift;
    this.#count += places.length;
  }

  /** Gives a marked message the channel id of the written file, after it was copied. */
  setChannel(index: number, channelId: number): void {
    this.#memory.view.setUint16(this.#starts[index]! + RECORD_HEAD_BYTES, channelId, true);
  }

  /** Answers the chunk with its message indexes, and begins a new one. There must be at least one message. */
  seal(): SealedChunk {
    const [compression, memory] = [this.#compression, this.#memory];
    const crc = memory.sum();
    const stored = compressSync(compression, memory.records());
    const storedBytes = stored.byteLength; // of an uncompressed chunk they are moved when room for the indexes is made
    const chunkBytes = this.#headBytes + storedBytes;
    const messages: MarkedMessages = { view: memory.view, starts: this.#starts, count: this.#count };
    const channels = this.#indexes.place(messages, chunkBytes);
    const last = channels.at(-1)!;
    const bytes = this.#place(stored, last.start + indexBytes(last.messageCount));
    const facts = {
      chunkBytes,
      storedBytes,
      uncompressedBytes: memory.sizeBytes,
      startNs: this.#timeAt(0),
      endNs: this.#timeAt(this.#count - 1),
    };
    writeChunkHead(bytes, { ...facts, crc, compression });
    this.#indexes.write(bytes, channels, { ...messages, view: memory.view });
    this.#begin(this.#isPlain);
    const checksum = this.#sumUp(bytes, facts, this.#isPlain ? crc : crc32(stored));
    if (!this.#isPlain) freeOwn(stored);
    return { bytes, indexesBytes: bytes.byteLength - chunkBytes, channels, checksum, ...facts };
  }

  /** Answers messages that are too few for a chunk, with memory of their own, and begins a new chunk. */
  take(): Fragment {
    const records = new Uint8Array(this.#memory.records());
    const starts = this.#starts.slice(0, this.#count);
    const timesNs = new BigUint64Array(this.#count);
    for (let index = 0; index < timesNs.length; index += 1) timesNs[index] = this.#timeAt(index);
    this.#begin(false);
    return { records, starts, timesNs };
  }

  #makeRoom(moreCount: number): void {
    const count = this.#count + moreCount;
    if (count > this.#starts.length) this.#starts = growColumn(this.#starts, count);
  }

  #timeAt(index: number): bigint {
    return this.#memory.view.getBigUint64(this.#starts[index]! + LOG_TIME_OFFSET, true);
  }

  /** Answers memory of its own for the chunk and its indexes, with the records in it. */
  #place(stored: Uint8Array, totalBytes: number): Buffer {
    if (this.#isPlain) return this.#memory.whole(totalBytes);
    const bytes = Buffer.allocUnsafeSlow(totalBytes);
    bytes.set(stored, this.#headBytes);
    return bytes;
  }

  /** Computes the CRC-32 of the whole without summing the stored records again. */
  #sumUp(bytes: Buffer, { chunkBytes, storedBytes }: SealedSizes, storedCrc: number): number {
    const head = crc32(bytes.subarray(0, this.#headBytes));
    const indexes = crc32(bytes.subarray(chunkBytes));
    return combineChecksums(combineChecksums(head, storedCrc, storedBytes), indexes, bytes.byteLength - chunkBytes);
  }

  /** `isTaken` says that another owner has the memory. */
  #begin(isTaken: boolean): void {
    this.#memory.begin(isTaken);
    this.#count = 0;
  }
}

type SealedSizes = Pick<SealedChunk, "chunkBytes" | "storedBytes">;

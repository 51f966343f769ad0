import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { freeMemory } from "../../memory/free-memory.ts";

/** A part of some bytes, with its CRC-32. */
export interface SummedRange {
  readonly start: number;
  readonly end: number;
  readonly crc: number;
}

/** Puts records one behind the other, with room in front of them, and keeps their CRC-32. */
export class RecordMemory {
  readonly #origin: number;
  #memory = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #view: DataView;
  #sizeBytes = 0;
  /** CRC-32 of the first `#summedBytes`. */
  #crc = 0;
  #summedBytes = 0;

  /** `origin` is how much room there is in front. */
  constructor(origin: number) {
    this.#origin = origin;
    this.#view = viewOf(this.#memory, origin);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** A view of the records, which is valid until more are added. */
  get view(): DataView {
    return this.#view;
  }

  /** Makes room for so much in all, with what stands in front and behind. */
  reserve(totalBytes: number): void {
    this.#makeRoom(totalBytes, 0);
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    const at = this.#origin + this.#sizeBytes;
    this.#makeRoom(at + end - start, 2 * this.#memory.byteLength);
    this.#memory.set(start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end), at);
    this.#sizeBytes += end - start;
  }

  /** Appends bytes that will not be changed, and whose CRC-32 is known. */
  appendSummed(bytes: Uint8Array, { start, end, crc }: SummedRange): void {
    const before = this.sum();
    this.append(bytes, start, end);
    this.#crc = combineChecksums(before, crc, end - start);
    this.#summedBytes = this.#sizeBytes;
  }

  /** Answers the CRC-32 of the records, which must not be changed afterwards. */
  sum(): number {
    if (this.#summedBytes < this.#sizeBytes) this.#crc = crc32(this.records().subarray(this.#summedBytes), this.#crc);
    this.#summedBytes = this.#sizeBytes;
    return this.#crc;
  }

  records(): Uint8Array {
    return this.#memory.subarray(this.#origin, this.#origin + this.#sizeBytes);
  }

  /** Answers the memory itself, from the room in front on. A caller that keeps it must call `begin` with `isTaken`. */
  whole(totalBytes: number): Buffer {
    this.#makeRoom(totalBytes, 0);
    return this.#memory.subarray(0, totalBytes);
  }

  /** Starts over, in other memory if another owner has this. */
  begin(isTaken: boolean): void {
    this.#sizeBytes = 0;
    this.#crc = 0;
    this.#summedBytes = 0;
    if (isTaken) this.#use(noMemory);
    else if (this.#memory.byteLength > MOST_HELD_BYTES) this.#use(Buffer.allocUnsafeSlow(FIRST_BYTES));
  }

  #makeRoom(neededBytes: number, roomBytes: number): void {
    if (neededBytes <= this.#memory.byteLength) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(neededBytes + SLACK_BYTES, roomBytes, FIRST_BYTES));
    grown.set(this.#memory.subarray(0, this.#origin + this.#sizeBytes));
    freeMemory(this.#memory);
    this.#use(grown);
  }

  #use(memory: Buffer<ArrayBuffer>): void {
    this.#memory = memory;
    this.#view = viewOf(memory, this.#origin);
  }
}

const noMemory = Buffer.alloc(0);
const FIRST_BYTES = 512 * 1024;
/** There is so much room for the indexes of a large message that was not expected. */
const SLACK_BYTES = 1024;
/** More memory than this, which a large message needed, is given back. */
const MOST_HELD_BYTES = 16 * 1024 * 1024;

function viewOf(bytes: Uint8Array, origin: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + Math.min(origin, bytes.byteLength));
}

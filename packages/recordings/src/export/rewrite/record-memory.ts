import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { freeMemory } from "../../memory/free-memory.ts";

/** Where records are put one behind the other, with room in front of them, and with their CRC-32. */
export interface RecordMemory {
  readonly sizeBytes: number;
  /** Of the records; good until more are put there. */
  readonly view: DataView;
  /** Makes room for so much in all, with what stands in front and behind. */
  reserve(totalBytes: number): void;
  append(bytes: Uint8Array, start: number, end: number): void;
  /** The same of bytes that stay as they are, and whose CRC-32 is known. */
  appendSummed(bytes: Uint8Array, range: SummedRange): void;
  /** CRC-32 of the records, which are changed no more. */
  sum(): number;
  records(): Uint8Array;
  /** The memory itself, from the room in front on; others may have it when `begin` was given other memory. */
  whole(totalBytes: number): Buffer;
  /** Begins anew; `isTaken`: in other memory. */
  begin(isTaken: boolean): void;
}

export interface SummedRange {
  start: number;
  end: number;
  crc: number;
}

/** `origin`: how much room there is in front. */
export function createRecordMemory(origin: number): RecordMemory {
  let memory = Buffer.allocUnsafeSlow(firstBytes);
  let view = viewOf(memory, origin);
  let sizeBytes = 0;
  /** CRC-32 of the first so many bytes. */
  let [crc, summedBytes] = [0, 0];

  const use = (own: Buffer<ArrayBuffer>): void => {
    memory = own;
    view = viewOf(own, origin);
  };
  const makeRoom = (neededBytes: number, roomBytes: number): void => {
    if (neededBytes <= memory.byteLength) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(neededBytes + slackBytes, roomBytes, firstBytes));
    grown.set(memory.subarray(0, origin + sizeBytes));
    freeMemory(memory);
    use(grown);
  };
  const append = (bytes: Uint8Array, start: number, end: number): void => {
    const at = origin + sizeBytes;
    makeRoom(at + end - start, 2 * memory.byteLength);
    memory.set(start === 0 && end === bytes.byteLength ? bytes : bytes.subarray(start, end), at);
    sizeBytes += end - start;
  };
  const records = (): Uint8Array => memory.subarray(origin, origin + sizeBytes);
  const sum = (): number => {
    if (summedBytes < sizeBytes) crc = crc32(records().subarray(summedBytes), crc);
    summedBytes = sizeBytes;
    return crc;
  };
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    get view() {
      return view;
    },
    reserve: (totalBytes) => makeRoom(totalBytes, 0),
    append,
    appendSummed(bytes, range) {
      const before = sum();
      append(bytes, range.start, range.end);
      crc = combineChecksums(before, range.crc, range.end - range.start);
      summedBytes = sizeBytes;
    },
    sum,
    records,
    whole(totalBytes) {
      makeRoom(totalBytes, 0);
      return memory.subarray(0, totalBytes);
    },
    begin(isTaken) {
      [sizeBytes, crc, summedBytes] = [0, 0, 0];
      if (isTaken) use(noMemory);
      else if (memory.byteLength > mostHeldBytes) use(Buffer.allocUnsafeSlow(firstBytes));
    },
  };
}

const noMemory = Buffer.alloc(0);
const firstBytes = 512 * 1024;
/** For the indexes of a large message that was not expected. */
const slackBytes = 1024;
/** What a large message needed is given back. */
const mostHeldBytes = 16 * 1024 * 1024;

function viewOf(bytes: Uint8Array, origin: number): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset + Math.min(origin, bytes.byteLength));
}

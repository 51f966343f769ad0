import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";

/** The CRC-32 of a record that is looked at from its beginning to its end; each byte is summed once. */
export interface RunningSum {
  /** The CRC-32 of a part alone, by its places in the data; parts come in their order. */
  addPart(start: number, end: number): number;
  /** Of the whole record. */
  end(): number;
}

/** `dataStart`: where the data begin in the record. */
export function createRunningSum(record: Uint8Array, dataStart: number): RunningSum {
  let crc = 0;
  let summedBytes = 0;
  const sumUpTo = (end: number): void => {
    if (end > summedBytes) crc = crc32(record.subarray(summedBytes, end), crc);
    summedBytes = end;
  };
  return {
    addPart(start, end) {
      sumUpTo(dataStart + start);
      const part = crc32(record.subarray(dataStart + start, dataStart + end));
      crc = combineChecksums(crc, part, end - start);
      summedBytes = dataStart + end;
      return part;
    },
    end() {
      sumUpTo(record.byteLength);
      return crc;
    },
  };
}

/** Looks at records that come in pieces, of which one may begin in one piece and end in another. */
export interface RecordPieces {
  push(bytes: Uint8Array): void;
  /** Whether the last record was whole. */
  isWhole(): boolean;
}

/**
 * Looks at the whole records from `from` on; `base`: of the bytes among all records. Answers where the first begins of which there is too
 * little. Behind the bytes: so much of what comes next belongs to a record that was looked at.
 */
export type LookAtRecords = (bytes: Uint8Array, from: number, base: number) => number;

export function createRecordPieces(lookAt: LookAtRecords): RecordPieces {
  /** Among all records, of the bytes that are pushed next, or of those that are left of the last. */
  let base = 0;
  let skip = 0;
  let left: Uint8Array = noBytes;
  return {
    push(bytes) {
      const joined = left.byteLength > 0 ? Buffer.concat([left, bytes]) : bytes;
      const at = lookAt(joined, skip, base);
      base += Math.min(at, joined.byteLength);
      skip = Math.max(0, at - joined.byteLength);
      left = at < joined.byteLength ? new Uint8Array(joined.subarray(at)) : noBytes;
    },
    isWhole: () => skip === 0 && left.byteLength === 0,
  };
}

const noBytes = new Uint8Array(0);

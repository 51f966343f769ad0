import { freeMemory } from "../memory/free-memory.ts";

/** Looks at records that come in pieces. A record may begin in one piece and end in another. */
export interface RecordPieces {
  push(bytes: Uint8Array): void;
  /** Whether the last record was whole. */
  isWhole(): boolean;
}

/** Looks at the records from `from` on. `base` is the place of the bytes among all records. */
export type LookAtRecords = (bytes: Uint8Array, from: number, base: number) => Looked;

export interface Looked {
  /**
   * Where the first record begins of which too little is there. If it lies behind the bytes, the next bytes up to there belong to a record
   * that was looked at already.
   */
  readonly at: number;
  /** How much of that record must be seen at once. */
  readonly wantedBytes: number;
}

export function createRecordPieces(lookAt: LookAtRecords): RecordPieces {
  /** The place among all records of the bytes that are pushed next, or of those that are left of the last push. */
  let base = 0;
  /** How many of the next bytes are the rest of a record that was looked at. */
  let skip = 0;
  /** Room for the beginning of the record that earlier pieces ended in, as far as it has to be seen at once. */
  let left: Uint8Array = new Uint8Array(0);
  let leftBytes = 0;
  const keep = (bytes: Uint8Array, wantedBytes: number): void => {
    left = new Uint8Array(wantedBytes);
    left.set(bytes);
    leftBytes = bytes.byteLength;
  };
  /**
   * Puts what was left of earlier pieces together with what comes, a record of many megabytes only once. Answers how much of what comes it
   * took.
   */
  const complete = (bytes: Uint8Array): number => {
    let taken = 0;
    while (leftBytes > 0) {
      const part = bytes.subarray(taken, taken + left.byteLength - leftBytes);
      left.set(part, leftBytes);
      taken += part.byteLength;
      leftBytes += part.byteLength;
      if (leftBytes < left.byteLength) break;
      const joined = left;
      const { at, wantedBytes } = lookAt(joined, 0, base);
      if (at === 0) keep(joined, wantedBytes);
      else {
        base += joined.byteLength;
        skip = at - joined.byteLength;
        leftBytes = 0;
      }
      freeMemory(joined);
    }
    return taken;
  };
  return {
    push(bytes) {
      const rest = bytes.subarray(complete(bytes));
      if (leftBytes > 0) return;
      const { at, wantedBytes } = lookAt(rest, skip, base);
      base += Math.min(at, rest.byteLength);
      skip = Math.max(0, at - rest.byteLength);
      if (at < rest.byteLength) keep(rest.subarray(at), wantedBytes);
    },
    isWhole: () => skip === 0 && leftBytes === 0,
  };
}

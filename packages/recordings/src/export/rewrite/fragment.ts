import { recordHeadBytes } from "../../mcap/opcodes.ts";

/** Message records of the written file in order of log time: what chunks are made of. */
export interface Fragment {
  records: Uint8Array;
  /** Where each message's record begins. */
  starts: Uint32Array;
  /** Of each message the log time in nanoseconds. */
  timesNs: BigUint64Array;
}

/** First byte behind a message's record. */
export function endOf({ records, starts }: Fragment, index: number): number {
  return starts[index + 1] ?? records.byteLength;
}

export function channelIdAt({ records }: Fragment, start: number): number {
  return records[start + recordHeadBytes]! | (records[start + recordHeadBytes + 1]! << 8);
}

/** spec: MCAP "Message": the log time follows the channel and the sequence. */
export const logTimeOffset: number = recordHeadBytes + 6;

export const emptyFragment: Fragment = {
  records: new Uint8Array(0),
  starts: new Uint32Array(0),
  timesNs: new BigUint64Array(0),
};

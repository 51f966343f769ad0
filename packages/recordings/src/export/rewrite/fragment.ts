import { emptyMessageBytes, messageHeadBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { growColumn } from "../../memory/columns.ts";
import type { RawMessage } from "../../reading/raw-message.ts";

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

/** Grows while it is filled; `take` hands its memory out and begins anew. */
export interface FragmentBuilder {
  readonly sizeBytes: number;
  readonly count: number;
  /** Makes room for so many bytes at once. */
  reserve(moreBytes: number): void;
  /** Copies bytes of records, and answers where they begin; each record is then announced by `mark`. */
  addBytes(bytes: Uint8Array, start: number, end: number): number;
  /** Announces a record that begins at `start` of what was added. */
  mark(start: number, channelId: number): void;
  addMessage(message: RawMessage, channelId: number): void;
  /** Copies the messages `from` up to `to` of a fragment. */
  addFrom(fragment: Fragment, from: number, to: number): void;
  take(): Fragment;
}

export function createFragmentBuilder(): FragmentBuilder {
  let records = new Uint8Array(0);
  let starts = new Uint32Array(0);
  let sizeBytes = 0;
  let count = 0;

  const reserve = (moreBytes: number): void => {
    if (sizeBytes + moreBytes > records.byteLength) records = grow(records, sizeBytes + moreBytes);
  };
  const addBytes = (bytes: Uint8Array, start: number, end: number): number => {
    const at = sizeBytes;
    sizeBytes += end - start;
    if (sizeBytes > records.byteLength)
      records = grow(records.subarray(0, at), Math.max(2 * records.byteLength, sizeBytes));
    records.set(bytes.subarray(start, end), at);
    return at;
  };
  const makeRoom = (moreCount: number): void => {
    if (count + moreCount > starts.length) starts = growColumn(starts, Math.max(count + moreCount, 64));
  };
  const mark = (start: number, channelId: number): void => {
    makeRoom(1);
    starts[count] = start;
    count += 1;
    records[start + recordHeadBytes] = channelId & 0xff;
    records[start + recordHeadBytes + 1] = channelId >> 8;
  };
  const addMessage = (message: RawMessage, channelId: number): void => {
    const head = messageHead({ ...message, dataBytes: message.data.byteLength });
    const start = addBytes(head, 0, head.byteLength);
    addBytes(message.data, 0, message.data.byteLength);
    mark(start, channelId);
  };
  const addFrom = (fragment: Fragment, from: number, to: number): void => {
    if (from === to) return;
    const first = fragment.starts[from]!;
    const shift = addBytes(fragment.records, first, endOf(fragment, to - 1)) - first;
    makeRoom(to - from);
    for (let index = from; index < to; index += 1) starts[count + index - from] = fragment.starts[index]! + shift;
    count += to - from;
  };
  const take = (): Fragment => {
    const [taken, marks] = [records.subarray(0, sizeBytes), starts.subarray(0, count)];
    [records, starts, sizeBytes, count] = [new Uint8Array(0), new Uint32Array(0), 0, 0];
    return { records: taken, starts: marks, timesNs: readTimes(taken, marks) };
  };
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    get count() {
      return count;
    },
    reserve,
    addBytes,
    mark,
    addMessage,
    addFrom,
    take,
  };
}

function grow(bytes: Uint8Array, room: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(room);
  grown.set(bytes);
  return grown;
}

/** By halves of 32 bits, which cost no allocation. */
function readTimes(records: Uint8Array, starts: Uint32Array): BigUint64Array {
  const timesNs = new BigUint64Array(starts.length);
  const halves = new DataView(timesNs.buffer);
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let index = 0; index < starts.length; index += 1) {
    const at = starts[index]! + logTimeOffset;
    halves.setUint32(8 * index, view.getUint32(at));
    halves.setUint32(8 * index + 4, view.getUint32(at + 4));
  }
  return timesNs;
}

/** spec: MCAP "Message"; the channel is set later. */
export function messageHead({
  sequence,
  logTimeNs,
  publishTimeNs,
  dataBytes,
}: Omit<RawMessage, "data" | "channelId"> & { dataBytes: number }): Uint8Array {
  const head = new Uint8Array(emptyMessageBytes);
  const view = new DataView(head.buffer);
  view.setUint8(0, opcodes.message);
  view.setBigUint64(1, BigInt(messageHeadBytes + dataBytes), true);
  view.setUint32(11, sequence, true);
  view.setBigUint64(logTimeOffset, logTimeNs, true);
  view.setBigUint64(logTimeOffset + 8, publishTimeNs, true);
  return head;
}

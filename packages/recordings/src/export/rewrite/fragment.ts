import { EMPTY_MESSAGE_BYTES, MESSAGE_HEAD_BYTES, opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { growColumn } from "../../memory/columns.ts";
import type { RawMessage } from "../../reading/raw-message.ts";

/** Message records of the written file in order of log time: what chunks are made of. */
export interface Fragment {
  readonly records: Uint8Array;
  /** Where each message's record begins. */
  readonly starts: Uint32Array;
  /** The log time of each message in nanoseconds. */
  readonly timesNs: BigUint64Array;
}

/** The first byte behind a message's record. */
export function endOf({ records, starts }: Fragment, index: number): number {
  return starts[index + 1] ?? records.byteLength;
}

export function channelIdAt({ records }: Fragment, start: number): number {
  return records[start + RECORD_HEAD_BYTES]! | (records[start + RECORD_HEAD_BYTES + 1]! << 8);
}

/** spec: MCAP "Message": the log time follows the channel and the sequence. */
export const LOG_TIME_OFFSET: number = RECORD_HEAD_BYTES + 6;

export const emptyFragment: Fragment = {
  records: new Uint8Array(0),
  starts: new Uint32Array(0),
  timesNs: new BigUint64Array(0),
};

/** Puts messages of the written file one behind the other. Its memory grows while it is filled, and `take` hands it out. */
export class FragmentBuilder {
  #records = new Uint8Array(0);
  #starts = new Uint32Array(0);
  #sizeBytes = 0;
  #count = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get count(): number {
    return this.#count;
  }

  /** Makes room for so many bytes at once. */
  reserve(moreBytes: number): void {
    const neededBytes = this.#sizeBytes + moreBytes;
    if (neededBytes > this.#records.byteLength) this.#records = grow(this.#records, neededBytes);
  }

  /** Copies bytes of records, and answers where they begin; each record is then announced by `mark`. */
  addBytes(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#sizeBytes;
    const sizeBytes = at + end - start;
    const roomBytes = this.#records.byteLength;
    if (sizeBytes > roomBytes) this.#records = grow(this.#records.subarray(0, at), Math.max(2 * roomBytes, sizeBytes));
    this.#records.set(bytes.subarray(start, end), at);
    this.#sizeBytes = sizeBytes;
    return at;
  }

  /** Announces a record that begins at `start` of what was added. */
  mark(start: number, channelId: number): void {
    this.#makeRoom(1);
    this.#starts[this.#count] = start;
    this.#count += 1;
    this.#records[start + RECORD_HEAD_BYTES] = channelId & 0xff;
    this.#records[start + RECORD_HEAD_BYTES + 1] = channelId >> 8;
  }

  addMessage(message: RawMessage, channelId: number): void {
    const head = messageHead({ ...message, dataBytes: message.data.byteLength });
    const start = this.addBytes(head, 0, head.byteLength);
    this.addBytes(message.data, 0, message.data.byteLength);
    this.mark(start, channelId);
  }

  /** Copies the messages `from` up to `to` of a fragment. */
  addFrom(fragment: Fragment, from: number, to: number): void {
    if (from === to) return;
    const { starts } = fragment;
    const first = starts[from]!;
    const shift = this.addBytes(fragment.records, first, endOf(fragment, to - 1)) - first;
    this.#makeRoom(to - from);
    const place = this.#count - from;
    for (let index = from; index < to; index += 1) this.#starts[place + index] = starts[index]! + shift;
    this.#count += to - from;
  }

  /** Answers what was added, and starts over in other memory. */
  take(): Fragment {
    const records = this.#records.subarray(0, this.#sizeBytes);
    const starts = this.#starts.subarray(0, this.#count);
    this.#records = new Uint8Array(0);
    this.#starts = new Uint32Array(0);
    this.#sizeBytes = 0;
    this.#count = 0;
    return { records, starts, timesNs: readTimes(records, starts) };
  }

  #makeRoom(moreCount: number): void {
    const count = this.#count + moreCount;
    if (count > this.#starts.length) this.#starts = growColumn(this.#starts, Math.max(count, 64));
  }
}

function grow(bytes: Uint8Array, room: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(room);
  grown.set(bytes);
  return grown;
}

/** Reads times in halves of 32 bits, which costs no allocation. */
function readTimes(records: Uint8Array, starts: Uint32Array): BigUint64Array {
  const timesNs = new BigUint64Array(starts.length);
  const halves = new DataView(timesNs.buffer);
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let index = 0; index < starts.length; index += 1) {
    const at = starts[index]! + LOG_TIME_OFFSET;
    halves.setUint32(8 * index, view.getUint32(at));
    halves.setUint32(8 * index + 4, view.getUint32(at + 4));
  }
  return timesNs;
}

/** Encodes the head of a message record; the channel is set later. spec: MCAP "Message" */
export function messageHead({
  sequence,
  logTimeNs,
  publishTimeNs,
  dataBytes,
}: Omit<RawMessage, "data" | "channelId"> & { dataBytes: number }): Uint8Array {
  const head = new Uint8Array(EMPTY_MESSAGE_BYTES);
  const view = new DataView(head.buffer);
  view.setUint8(0, opcodes.message);
  view.setBigUint64(1, BigInt(MESSAGE_HEAD_BYTES + dataBytes), true);
  view.setUint32(11, sequence, true);
  view.setBigUint64(LOG_TIME_OFFSET, logTimeNs, true);
  view.setBigUint64(LOG_TIME_OFFSET + 8, publishTimeNs, true);
  return head;
}

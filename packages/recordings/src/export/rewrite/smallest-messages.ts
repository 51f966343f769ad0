import { RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { copyColumns } from "../../memory/columns.ts";
import type { Fragment } from "./fragment.ts";

/** The order of messages: by time in halves of 32 bits, then by their place among those that are wanted. */
export interface MessageKey {
  readonly timeHigh: number;
  readonly timeLow: number;
  readonly place: number;
}

/** The next messages of a run that is too large to be held. */
export interface LargePart {
  /** The messages; only the head of a huge one. */
  readonly fragment: Fragment;
  /** The key of the last message. */
  readonly last: MessageKey | undefined;
  readonly hasMore: boolean;
  /** If the only message is too large to be held: where its record stands among the decompressed ones. */
  readonly hugeAt: number | undefined;
}

/** A message that is offered. */
export interface OfferedMessage {
  readonly records: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The id in the written file. */
  readonly channelId: number;
  readonly timeHigh: number;
  readonly timeLow: number;
  /** Where a message stands that is too large to be held. */
  readonly hugeAt: number | undefined;
}

/**
 * Keeps those of some messages in any order that come first, as many as fit. It holds up to twice as much as fits, and then drops the
 * messages that come last. A huge message stands alone.
 */
export class SmallestMessages {
  readonly #after: MessageKey | undefined;
  readonly #maxBytes: number;
  #rows = createRows(LEAST_ROWS);
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #count = 0;
  #filledBytes = 0;
  /** The place of the message that was offered last. */
  #place = -1;
  /** The last message that fits. */
  #limit: MessageKey | undefined;
  #hasMore = false;

  /** Only messages behind `after` are taken. */
  constructor(after: MessageKey | undefined, maxBytes: number) {
    this.#after = after;
    this.#maxBytes = maxBytes;
  }

  /** Whether messages are left that come later. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  add(message: OfferedMessage): void {
    this.#place += 1;
    if (this.#after && !isAfter(message, this.#place, this.#after)) return;
    if (this.#limit && isAfter(message, this.#place, this.#limit)) return;
    this.#append(message);
    if (this.#filledBytes > 2 * this.#maxBytes) this.#compact();
  }

  take(): LargePart {
    this.#compact();
    const [rows, count] = [this.#rows, this.#count];
    const timesNs = new BigUint64Array(count);
    for (let row = 0; row < count; row += 1)
      timesNs[row] = (BigInt(rows.timesHigh[row]!) << 32n) + BigInt(rows.timesLow[row]!);
    const records = new Uint8Array(this.#bytes.buffer, 0, this.#filledBytes);
    return {
      fragment: { records, starts: rows.starts.slice(0, count), timesNs },
      last: count > 0 ? keyOf(rows, count - 1) : undefined,
      hasMore: this.#hasMore,
      hugeAt: count > 0 && rows.hugeAts[0] !== NOT_HUGE ? rows.hugeAts[0] : undefined,
    };
  }

  #append({ records, start, end, channelId, timeHigh, timeLow, hugeAt }: OfferedMessage): void {
    const row = this.#count;
    if (row === this.#rows.starts.length) this.#rows = copyColumns(this.#rows, createRows(2 * row));
    const rows = this.#rows;
    const at = this.#filledBytes;
    const next = at + end - start;
    if (next > this.#bytes.byteLength) this.#bytes = growBytes(this.#bytes, at, next);
    this.#bytes.set(records.subarray(start, end), at);
    this.#bytes.writeUInt16LE(channelId, at + RECORD_HEAD_BYTES);
    rows.starts[row] = at;
    rows.ends[row] = next;
    rows.timesHigh[row] = timeHigh;
    rows.timesLow[row] = timeLow;
    rows.places[row] = this.#place;
    rows.hugeAts[row] = hugeAt ?? NOT_HUGE;
    this.#filledBytes = next;
    this.#count += 1;
  }

  /** Drops what does not fit. The rows and their bytes are in order afterwards. */
  #compact(): void {
    const [rows, bytes] = [this.#rows, this.#bytes];
    const kept = fittingRows(rows, this.#count, this.#maxBytes);
    if (kept.length < this.#count) {
      this.#hasMore = true;
      this.#limit = keyOf(rows, kept.at(-1)!);
    }
    const keptBytes = kept.reduce((sum, row) => sum + rows.ends[row]! - rows.starts[row]!, 0);
    this.#rows = createRows(Math.max(LEAST_ROWS, kept.length));
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(keptBytes, 1));
    this.#filledBytes = 0;
    for (const [index, row] of kept.entries()) {
      this.#rows.starts[index] = this.#filledBytes;
      this.#filledBytes += bytes.copy(this.#bytes, this.#filledBytes, rows.starts[row]!, rows.ends[row]!);
      this.#rows.ends[index] = this.#filledBytes;
      for (const name of copiedColumns) this.#rows[name][index] = rows[name][row]!;
    }
    this.#count = kept.length;
    bytes.buffer.transfer(0);
  }
}

const FIRST_BYTES = 1024 * 1024;
const LEAST_ROWS = 1024;
const NOT_HUGE = -1;
const copiedColumns = ["timesHigh", "timesLow", "places", "hugeAts"] as const;

type Rows = ReturnType<typeof createRows>;

function createRows(room: number) {
  return {
    starts: new Uint32Array(room),
    ends: new Uint32Array(room),
    timesHigh: new Uint32Array(room),
    timesLow: new Uint32Array(room),
    places: new Uint32Array(room),
    hugeAts: new Float64Array(room),
  };
}

/** The rows in order, up to the last that fits. */
function fittingRows(rows: Rows, count: number, maxBytes: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => compareRows(rows, a, b));
  let leftBytes = maxBytes;
  let fits = 0;
  for (; fits < count; fits += 1) {
    const row = order[fits]!;
    const isHuge = rows.hugeAts[row] !== NOT_HUGE;
    leftBytes -= rows.ends[row]! - rows.starts[row]!;
    if (fits > 0 && (isHuge || leftBytes < 0 || rows.hugeAts[order[0]!] !== NOT_HUGE)) break;
  }
  return order.subarray(0, fits);
}

function keyOf(rows: Rows, row: number): MessageKey {
  return { timeHigh: rows.timesHigh[row]!, timeLow: rows.timesLow[row]!, place: rows.places[row]! };
}

function growBytes(bytes: Buffer<ArrayBuffer>, filledBytes: number, neededBytes: number): Buffer<ArrayBuffer> {
  const grown = Buffer.allocUnsafeSlow(Math.max(2 * bytes.byteLength, neededBytes));
  bytes.copy(grown, 0, 0, filledBytes);
  bytes.buffer.transfer(0);
  return grown;
}

function compareRows(rows: Rows, a: number, b: number): number {
  return (
    rows.timesHigh[a]! - rows.timesHigh[b]! ||
    rows.timesLow[a]! - rows.timesLow[b]! ||
    rows.places[a]! - rows.places[b]!
  );
}

function isAfter({ timeHigh, timeLow }: OfferedMessage, place: number, key: MessageKey): boolean {
  if (timeHigh !== key.timeHigh) return timeHigh > key.timeHigh;
  return timeLow === key.timeLow ? place > key.place : timeLow > key.timeLow;
}

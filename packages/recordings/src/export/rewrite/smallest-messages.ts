import { recordHeadBytes } from "../../mcap/opcodes.ts";
import { copyColumns } from "../../memory/columns.ts";
import type { LargePart } from "./gather-large.ts";

/** The order of messages: by time in halves of 32 bits, then by their place among those that are wanted. */
export interface MessageKey {
  timeHigh: number;
  timeLow: number;
  place: number;
}

interface Added {
  records: Uint8Array;
  start: number;
  end: number;
  /** In the written file. */
  channelId: number;
  timeHigh: number;
  timeLow: number;
  /** Where a message stands that is too large to be held. */
  hugeAt: number | undefined;
}

/** Of messages that come in any order those that come first, as many as fit. */
export interface Smallest {
  add(message: Added): void;
  /** Some are left that come later. */
  readonly hasMore: boolean;
  take(): LargePart;
}

/** Keeps up to twice as much as fits, and then lets go of what comes last. A huge message stands alone. */
export function createSmallest({ after, maxBytes }: { after: MessageKey | undefined; maxBytes: number }): Smallest {
  let rows = createRows(1024);
  let bytes = Buffer.allocUnsafeSlow(firstBytes);
  let count = 0;
  let filledBytes = 0;
  let place = -1;
  /** The last that fits. */
  let limit: MessageKey | undefined;
  let hasMore = false;

  const append = ({ records, start, end, channelId, timeHigh, timeLow, hugeAt }: Added): void => {
    if (count === rows.starts.length) rows = copyColumns(rows, createRows(2 * count));
    const next = filledBytes + end - start;
    if (next > bytes.byteLength) bytes = growBytes(bytes, filledBytes, next);
    bytes.set(records.subarray(start, end), filledBytes);
    bytes.writeUInt16LE(channelId, filledBytes + recordHeadBytes);
    rows.starts[count] = filledBytes;
    rows.ends[count] = next;
    rows.timesHigh[count] = timeHigh;
    rows.timesLow[count] = timeLow;
    rows.places[count] = place;
    rows.hugeAts[count] = hugeAt ?? notHuge;
    filledBytes = next;
    count += 1;
  };
  /** Rows by order, up to the last that fits. */
  const fitting = (): Uint32Array => {
    const order = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => compareRows(rows, a, b));
    let leftBytes = maxBytes;
    let fits = 0;
    for (; fits < count; fits += 1) {
      const row = order[fits]!;
      const isHuge = rows.hugeAts[row] !== notHuge;
      leftBytes -= rows.ends[row]! - rows.starts[row]!;
      if (fits > 0 && (isHuge || leftBytes < 0 || rows.hugeAts[order[0]!] !== notHuge)) break;
    }
    return order.subarray(0, fits);
  };
  const keyOf = (row: number): MessageKey => {
    return { timeHigh: rows.timesHigh[row]!, timeLow: rows.timesLow[row]!, place: rows.places[row]! };
  };
  /** Afterwards the rows stand in order, and their bytes too. */
  const compact = (): void => {
    const kept = fitting();
    if (kept.length < count) {
      hasMore = true;
      limit = keyOf(kept.at(-1)!);
    }
    const [from, fromBytes] = [rows, bytes];
    const keptBytes = kept.reduce((sum, row) => sum + from.ends[row]! - from.starts[row]!, 0);
    rows = createRows(Math.max(1024, kept.length));
    bytes = Buffer.allocUnsafeSlow(Math.max(keptBytes, 1));
    filledBytes = 0;
    for (const [index, row] of kept.entries()) {
      rows.starts[index] = filledBytes;
      filledBytes += fromBytes.copy(bytes, filledBytes, from.starts[row]!, from.ends[row]!);
      rows.ends[index] = filledBytes;
      for (const name of ["timesHigh", "timesLow", "places", "hugeAts"] as const) rows[name][index] = from[name][row]!;
    }
    count = kept.length;
    fromBytes.buffer.transfer(0);
  };
  return {
    add(message) {
      place += 1;
      if (after && !isAfter(message, place, after)) return;
      if (limit && isAfter(message, place, limit)) return;
      append(message);
      if (filledBytes > 2 * maxBytes) compact();
    },
    get hasMore() {
      return hasMore;
    },
    take() {
      compact();
      const timesNs = new BigUint64Array(count);
      for (let row = 0; row < count; row += 1)
        timesNs[row] = (BigInt(rows.timesHigh[row]!) << 32n) + BigInt(rows.timesLow[row]!);
      const isHuge = count > 0 && rows.hugeAts[0] !== notHuge;
      const records = new Uint8Array(bytes.buffer, 0, filledBytes);
      return {
        fragment: { records, starts: rows.starts.slice(0, count), timesNs },
        last: count > 0 ? keyOf(count - 1) : undefined,
        hasMore,
        hugeAt: isHuge ? rows.hugeAts[0] : undefined,
      };
    },
  };
}

const firstBytes = 1024 * 1024;
const notHuge = -1;

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

function growBytes(bytes: Buffer<ArrayBuffer>, filledBytes: number, neededBytes: number): Buffer<ArrayBuffer> {
  const grown = Buffer.allocUnsafeSlow(Math.max(2 * bytes.byteLength, neededBytes));
  bytes.copy(grown, 0, 0, filledBytes);
  bytes.buffer.transfer(0);
  return grown;
}

function compareRows(rows: ReturnType<typeof createRows>, a: number, b: number): number {
  return (
    rows.timesHigh[a]! - rows.timesHigh[b]! ||
    rows.timesLow[a]! - rows.timesLow[b]! ||
    rows.places[a]! - rows.places[b]!
  );
}

function isAfter({ timeHigh, timeLow }: Added, place: number, key: MessageKey): boolean {
  if (timeHigh !== key.timeHigh) return timeHigh > key.timeHigh;
  return timeLow === key.timeLow ? place > key.place : timeLow > key.timeLow;
}

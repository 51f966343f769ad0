import type { Decompressor } from "../../codecs/decompress.ts";
import { emptyMessageBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { copyColumns } from "../../memory/columns.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import { type Cut, cutRecords, type HugeRecord } from "./cut-records.ts";
import type { Fragment } from "./fragment.ts";
import { toMcapRecords } from "./select-messages.ts";
import { type QuickSelection, unwanted } from "./selection.ts";
import { ContentChanged, contentInPieces, type ReadRange, type StoredRun } from "./stored-run.ts";

export interface LargePart {
  /** Of a huge message only its head. */
  fragment: Fragment;
  /** Of the last message in it. */
  last: MessageKey | undefined;
  hasMore: boolean;
  /** The only message of the fragment, where that is too large to be held: its record among the decompressed ones. */
  hugeAt: number | undefined;
}

interface Gathering {
  run: StoredRun;
  selection: QuickSelection;
  /** What comes up to here was given. */
  after: MessageKey | undefined;
  maxBytes: number;
  read: ReadRange;
  decompress: Decompressor;
}

/**
 * The next messages of a run that is too large to be held, in order of log time: reads all of it, and keeps those that come first. So
 * memory is bounded by the part, and a run that is not in order is read once for each.
 */
export async function gatherLarge(gathering: Gathering): Promise<LargePart> {
  const { run, selection, after, maxBytes } = gathering;
  const smallest = createSmallest({ after, maxBytes });
  const scan = createScan({ run, selection, smallest });
  for await (const cut of cutRecords(contentInPieces(run, gathering), run)) {
    scan(cut);
    if (cut.kind === "records") freeMemory(cut.bytes);
    if (run.isInOrder && smallest.hasMore) break;
  }
  return smallest.take();
}

function createScan({ run, selection, smallest }: Pick<Gathering, "run" | "selection"> & { smallest: Smallest }) {
  const isBag = run.format !== "mcap";
  const ids = isBag ? undefined : selection.ids;
  const addHuge = ({ channelId: id, timeNs, head: records, at: hugeAt }: HugeRecord): void => {
    const channelId = selection.idOf(id);
    const [timeHigh, timeLow] = [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];
    if (channelId !== unwanted && (run.isWithin || selection.isInWindow(timeHigh, timeLow)))
      smallest.add({ records, start: 0, end: records.byteLength, channelId, timeHigh, timeLow, hugeAt });
  };
  const addRecords = (bytes: Uint8Array): void => {
    const records = isBag ? toMcapRecords(bytes, run, selection) : bytes;
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    for (let at = 0; at < records.byteLength; ) {
      const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
      const end = at + recordHeadBytes + contentBytes;
      if (end > records.byteLength) throw new ContentChanged(run.place);
      if (records[at] === opcodes.message && end - at >= emptyMessageBytes) {
        const id = view.getUint16(at + recordHeadBytes, true);
        const channelId = ids ? ids[id]! : id;
        const [timeHigh, timeLow] = [view.getUint32(at + 19, true), view.getUint32(at + 15, true)];
        if (channelId !== unwanted && (run.isWithin || selection.isInWindow(timeHigh, timeLow)))
          smallest.add({ records, start: at, end, channelId, timeHigh, timeLow, hugeAt: undefined });
      }
      at = end;
    }
    if (isBag) freeMemory(records);
  };
  return (cut: Cut): void => {
    if (cut.kind === "huge") addHuge(cut);
    else addRecords(cut.bytes);
  };
}

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
interface Smallest {
  add(message: Added): void;
  /** Some are left that come later. */
  readonly hasMore: boolean;
  take(): LargePart;
}

/** Keeps up to twice as much as fits, and then lets go of what comes last. A huge message stands alone. */
function createSmallest({ after, maxBytes }: { after: MessageKey | undefined; maxBytes: number }): Smallest {
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

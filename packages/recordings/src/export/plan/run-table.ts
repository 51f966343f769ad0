import { copyColumns, numberOf, pickRows } from "../../columns.ts";
import type { MessageRun } from "../../message-run.ts";
import type { Queued } from "../run-queue.ts";
import type { OpenSource, PlannedRun } from "./open-source.ts";

/** The planned runs of one source, in a hundred bytes each: there may be a million, and an object would take four times as much. */
export interface RunTable extends RunSpans {
  add(run: MessageRun, plan: Pick<PlannedRun, "channelIds" | "mayPass">): void;
  /** Those that were added may be passed on no more. */
  forbidPassing(): void;
  readonly mayPassSome: boolean;
  /** By start and place in the file. Before anything is taken, after all was added. */
  sort(): void;
  /** The start and order of the run that is taken next. */
  next(): Queued | undefined;
  /** The next run, which is not in the table any more. */
  take(source: OpenSource): PlannedRun | undefined;
}

/** Of the runs that are left. */
export interface RunSpans {
  readonly length: number;
  startsNs(): BigInt64Array;
  endsNs(): BigInt64Array;
  largestBytes(): number;
}

/** `firstOrder`: of the run that is added first. */
export function createRunTable(firstOrder: number): RunTable {
  let columns = createColumns(64);
  const compressions: string[] = [];
  const channelIds: (readonly number[])[] = [];
  let count = 0;
  let taken = 0;

  const add: RunTable["add"] = (run, plan) => {
    if (count === columns.startsNs.length) columns = copyColumns(columns, createColumns(2 * count));
    const { chunk, indexed } = run;
    columns.numbers[count] = count;
    columns.startsNs[count] = run.startNs;
    columns.endsNs[count] = run.endNs;
    columns.offsets[count] = run.offset;
    columns.lengths[count] = run.lengthBytes;
    columns.compressions[count] = chunk ? numberOf(compressions, chunk.compression) : noChunk;
    columns.dataOffsets[count] = chunk?.dataOffset ?? 0;
    columns.storedBytes[count] = chunk?.storedBytes ?? 0;
    columns.crcs[count] = chunk?.crc ?? 0;
    columns.chunkBytes[count] = indexed?.chunkBytes ?? notIndexed;
    columns.indexesBytes[count] = indexed?.indexesBytes ?? 0;
    columns.mayPass[count] = plan.mayPass ? 1 : 0;
    if (plan.channelIds.length > 0) channelIds[count] = plan.channelIds;
    count += 1;
  };
  const orderOf = (row: number): number => firstOrder + columns.numbers[row]!;
  const toRun = (row: number, source: OpenSource): PlannedRun => {
    const [offset, lengthBytes, chunkBytes] = [columns.offsets[row]!, columns.lengths[row]!, columns.chunkBytes[row]!];
    const compression = compressions[columns.compressions[row]!];
    const stored = {
      offset,
      dataOffset: columns.dataOffsets[row]!,
      storedBytes: columns.storedBytes[row]!,
      uncompressedBytes: lengthBytes,
      crc: columns.crcs[row]!,
    };
    return {
      source,
      order: orderOf(row),
      offset,
      lengthBytes,
      startNs: columns.startsNs[row]!,
      endNs: columns.endsNs[row]!,
      channelIds: channelIds[columns.numbers[row]!] ?? none,
      mayPass: columns.mayPass[row] === 1,
      ...(compression !== undefined && { chunk: { ...stored, compression } }),
      ...(chunkBytes !== notIndexed && { indexed: { chunkBytes, indexesBytes: columns.indexesBytes[row]! } }),
    };
  };
  return {
    add,
    forbidPassing: () => void columns.mayPass.fill(0),
    get mayPassSome() {
      return columns.mayPass.includes(1);
    },
    sort() {
      if (!isInOrder(columns.startsNs, count)) columns = inOrderOfStart(columns, count);
    },
    next: () => (taken < count ? { nextNs: columns.startsNs[taken]!, order: orderOf(taken) } : undefined),
    take(source) {
      if (taken === count) return undefined;
      taken += 1;
      return toRun(taken - 1, source);
    },
    get length() {
      return count - taken;
    },
    startsNs: () => columns.startsNs.subarray(taken, count),
    endsNs: () => columns.endsNs.subarray(taken, count),
    largestBytes: () => columns.lengths.subarray(taken, count).reduce((most, bytes) => Math.max(most, bytes), 0),
  };
}

const none: readonly number[] = [];
const noChunk = 2 ** 32 - 1;
const notIndexed = -1;

type Columns = ReturnType<typeof createColumns>;

function createColumns(room: number) {
  return {
    /** Of the run in its file. */
    numbers: new Uint32Array(room),
    startsNs: new BigInt64Array(room),
    endsNs: new BigInt64Array(room),
    offsets: new Float64Array(room),
    lengths: new Float64Array(room),
    /** Into the list of texts, or `noChunk`. */
    compressions: new Uint32Array(room),
    dataOffsets: new Float64Array(room),
    storedBytes: new Float64Array(room),
    crcs: new Uint32Array(room),
    chunkBytes: new Float64Array(room),
    indexesBytes: new Float64Array(room),
    mayPass: new Uint8Array(room),
  };
}

/** Equal starts stay in order of their places. */
function inOrderOfStart(columns: Columns, count: number): Columns {
  const { startsNs } = columns;
  const rows = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => {
    const [one, other] = [startsNs[a]!, startsNs[b]!];
    if (one === other) return a - b;
    return one < other ? -1 : 1;
  });
  return pickRows(columns, createColumns(count), rows);
}

function isInOrder(startsNs: BigInt64Array, count: number): boolean {
  for (let row = 1; row < count; row += 1) if (startsNs[row]! < startsNs[row - 1]!) return false;
  return true;
}

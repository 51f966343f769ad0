import { copyColumns, pickRows } from "../../memory/columns.ts";
import { runFlags } from "../../verified/index-pages.ts";
import type { OpenSource, PlannedRun, RunTable } from "./planned-source.ts";

/** `firstOrder`: of the run that is added first. `compressions`: the names that rows refer to. */
export function createRunTable(firstOrder: number, compressions: readonly string[]): RunTable {
  let columns = createColumns(64);
  let count = 0;
  let taken = 0;

  const add: RunTable["add"] = ({ page: { runs }, pageNumber, row }, wanted) => {
    if (count === columns.startsNs.length) columns = copyColumns(columns, createColumns(2 * count));
    columns.numbers[count] = count;
    for (const name of copiedColumns) columns[name][count] = runs[name][row] as never;
    columns.wantedBytes[count] = wanted.recordsBytes;
    columns.wantedCounts[count] = wanted.messageCount;
    columns.wantedEnds[count] = wanted.lastEnd;
    columns.pages[count] = pageNumber;
    columns.rows[count] = row;
    columns.planned[count] =
      (wanted.isAll ? planFlags.isAll : 0) +
      (wanted.mayPass ? planFlags.mayPass : 0) +
      (wanted.mayPick ? planFlags.mayPick : 0);
    count += 1;
  };
  const orderOf = (row: number): number => firstOrder + columns.numbers[row]!;
  const toRun = (row: number, source: OpenSource): PlannedRun => {
    const [flags, planned] = [columns.flags[row]!, columns.planned[row]!];
    return {
      source,
      order: orderOf(row),
      offset: columns.offsets[row]!,
      recordBytes: columns.recordBytes[row]!,
      indexesBytes: columns.indexesBytes[row]!,
      lengthBytes: columns.lengths[row]!,
      largestBytes: columns.largestBytes[row]!,
      dataStart: columns.dataStarts[row]!,
      storedBytes: columns.storedBytes[row]!,
      compression: flags & runFlags.chunk ? compressions[columns.compressions[row]!]! : "",
      isChunk: (flags & runFlags.chunk) !== 0,
      startNs: columns.startsNs[row]!,
      endNs: columns.endsNs[row]!,
      checksum: columns.checksums[row]!,
      indexesChecksum: columns.indexesChecksums[row]!,
      isInOrder: (flags & runFlags.inOrder) !== 0,
      wantedBytes: columns.wantedBytes[row]!,
      wantedCount: columns.wantedCounts[row]!,
      wantedEnd: columns.wantedEnds[row]!,
      isAllWanted: (planned & planFlags.isAll) !== 0,
      mayPass: (planned & planFlags.mayPass) !== 0,
      mayPick: (planned & planFlags.mayPick) !== 0,
      place: { pageNumber: columns.pages[row]!, row: columns.rows[row]! },
    };
  };
  return {
    add,
    forbidPassing() {
      for (let row = 0; row < count; row += 1) columns.planned[row]! &= ~planFlags.mayPass;
    },
    get mayPassSome() {
      return columns.planned.subarray(0, count).some((flags) => (flags & planFlags.mayPass) !== 0);
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

const planFlags = { isAll: 1, mayPass: 2, mayPick: 4 } as const;

const copiedColumns = [
  "startsNs",
  "endsNs",
  "offsets",
  "recordBytes",
  "indexesBytes",
  "lengths",
  "largestBytes",
  "dataStarts",
  "storedBytes",
  "compressions",
  "checksums",
  "indexesChecksums",
  "flags",
] as const;

type Columns = ReturnType<typeof createColumns>;

function createColumns(room: number) {
  return {
    /** Of the run in its file. */
    numbers: new Uint32Array(room),
    startsNs: new BigInt64Array(room),
    endsNs: new BigInt64Array(room),
    offsets: new Float64Array(room),
    recordBytes: new Float64Array(room),
    indexesBytes: new Float64Array(room),
    lengths: new Float64Array(room),
    largestBytes: new Uint32Array(room),
    dataStarts: new Float64Array(room),
    storedBytes: new Float64Array(room),
    compressions: new Uint32Array(room),
    checksums: new Uint32Array(room),
    indexesChecksums: new Uint32Array(room),
    flags: new Uint8Array(room),
    wantedBytes: new Float64Array(room),
    wantedCounts: new Uint32Array(room),
    wantedEnds: new Float64Array(room),
    planned: new Uint8Array(room),
    pages: new Uint32Array(room),
    rows: new Uint32Array(room),
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

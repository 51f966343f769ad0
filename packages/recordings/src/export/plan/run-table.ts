import { copyColumns, pickRows } from "../../memory/columns.ts";
import type { SourceRange } from "../../sources/source.ts";
import { type RunPage, runFlags } from "../../verified/index-pages.ts";
import { WHOLE_CHUNK_BYTES } from "../../verified/verified-run.ts";
import type { OpenSource, PlannedRun, PlannedRuns, WantedOfRun } from "./planned-source.ts";
import type { Queued } from "./run-queue.ts";

/**
 * The planned runs of one source. Each takes some hundred bytes: there may be a million, and an object for each would take four times as
 * much. Runs are added, sorted once, and then taken.
 */
export class RunTable implements PlannedRuns {
  readonly #firstOrder: number;
  readonly #compressions: readonly string[];
  #columns = createColumns(64);
  #count = 0;
  #taken = 0;

  /** `firstOrder` is the order of the run that is added first. `compressions` are the names that rows refer to. */
  constructor(firstOrder: number, compressions: readonly string[]) {
    this.#firstOrder = firstOrder;
    this.#compressions = compressions;
  }

  /** How many runs are left. */
  get length(): number {
    return this.#count - this.#taken;
  }

  get mayPassSome(): boolean {
    return this.#columns.planned.subarray(0, this.#count).some((flags) => (flags & planFlags.mayPass) !== 0);
  }

  /** Adds a row of a page of the source's index. */
  add({ page: { runs }, pageNumber, row }: RowPlace, wanted: WantedOfRun): void {
    const at = this.#count;
    if (at === this.#columns.startsNs.length) this.#columns = copyColumns(this.#columns, createColumns(2 * at));
    const columns = this.#columns;
    columns.numbers[at] = at;
    for (const name of copiedColumns) columns[name][at] = runs[name][row] as never;
    columns.wantedBytes[at] = wanted.recordsBytes;
    columns.wantedCounts[at] = wanted.messageCount;
    columns.wantedEnds[at] = wanted.lastEnd;
    columns.pages[at] = pageNumber;
    columns.rows[at] = row;
    columns.planned[at] = flagsOf(wanted);
    this.#count += 1;
  }

  /** Forbids passing on the runs that were added. */
  forbidPassing(): void {
    for (let row = 0; row < this.#count; row += 1) this.#columns.planned[row]! &= ~planFlags.mayPass;
  }

  /** Sorts by start and place in the file. It must be called after all was added, and before anything is taken. */
  sort(): void {
    if (!isInOrder(this.#columns.startsNs, this.#count)) this.#columns = inOrderOfStart(this.#columns, this.#count);
  }

  /** Answers the start and order of the run that is taken next. */
  next(): Queued | undefined {
    if (this.#taken === this.#count) return undefined;
    return { nextNs: this.#columns.startsNs[this.#taken]!, order: this.#orderOf(this.#taken) };
  }

  /** Takes the next run away. */
  take(source: OpenSource): PlannedRun | undefined {
    const row = this.#taken;
    if (row === this.#count) return undefined;
    this.#taken += 1;
    const compression = this.#compressions[this.#columns.compressions[row]!]!;
    return runAt(this.#columns, row, { source, order: this.#orderOf(row), compression });
  }

  /** The ranges of the runs in the order in which they are taken, but for those that are too large to be read as a whole. */
  *ranges(): Generator<SourceRange> {
    for (let row = this.#taken; row < this.#count; row += 1) {
      const { offsets, recordBytes, indexesBytes, lengths } = this.#columns;
      if (Math.max(lengths[row]!, recordBytes[row]!) > WHOLE_CHUNK_BYTES) continue;
      const start = offsets[row]!;
      yield { start, end: start + recordBytes[row]! + indexesBytes[row]! };
    }
  }

  startsNs(): BigInt64Array {
    return this.#columns.startsNs.subarray(this.#taken, this.#count);
  }

  endsNs(): BigInt64Array {
    return this.#columns.endsNs.subarray(this.#taken, this.#count);
  }

  largestBytes(): number {
    const lengths = this.#columns.lengths.subarray(this.#taken, this.#count);
    return lengths.reduce((most, bytes) => Math.max(most, bytes), 0);
  }

  #orderOf(row: number): number {
    return this.#firstOrder + this.#columns.numbers[row]!;
  }
}

export interface RowPlace {
  readonly page: RunPage;
  readonly pageNumber: number;
  readonly row: number;
}

/** `compression` is the one of the row, if the row is a chunk. */
function runAt(
  columns: Columns,
  row: number,
  { source, order, compression }: Pick<PlannedRun, "source" | "order" | "compression">,
): PlannedRun {
  const [flags, planned] = [columns.flags[row]!, columns.planned[row]!];
  const isChunk = (flags & runFlags.chunk) !== 0;
  return {
    source,
    order,
    offset: columns.offsets[row]!,
    recordBytes: columns.recordBytes[row]!,
    indexesBytes: columns.indexesBytes[row]!,
    lengthBytes: columns.lengths[row]!,
    largestBytes: columns.largestBytes[row]!,
    dataStart: columns.dataStarts[row]!,
    storedBytes: columns.storedBytes[row]!,
    compression: isChunk ? compression : "",
    isChunk,
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
}

function flagsOf({ isAll, mayPass, mayPick }: WantedOfRun): number {
  return (isAll ? planFlags.isAll : 0) + (mayPass ? planFlags.mayPass : 0) + (mayPick ? planFlags.mayPick : 0);
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
    /** The place of the run among those of its file. */
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

/** Sorts by start. Runs of equal starts stay in the order of their places. */
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

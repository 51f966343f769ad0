import type { LargeMemory } from "../memory/large-memory.ts";
import { coalesce, type Extent } from "./coalesce.ts";
import { FetchedBlock, type Fetching } from "./fetched-block.ts";
import type { SourceRange } from "./source.ts";

export interface FetchLimits {
  /** The most that one request is for. */
  readonly blockBytes: number;
  readonly gapBytes: number;
  /** How much is fetched of one track ahead of its readers, in bytes and in requests. */
  readonly aheadBytes: number;
  readonly aheadBlocks: number;
}

export interface TrackMeans extends Fetching {
  readonly limits: FetchLimits;
  readonly memory: LargeMemory;
}

interface Lent {
  readonly block: FetchedBlock;
  readonly loan: Disposable;
  /** Another reader waits for its memory. */
  isWanted: boolean;
}

/**
 * Fetches announced ranges ahead of their readers, as far as there is memory that is free. A range that is not fetched ahead is no fault:
 * its reader reads it by a request of its own.
 */
export class FetchedTrack implements Disposable {
  readonly #extents: Iterator<Extent, undefined>;
  readonly #fetching: Fetching;
  readonly #limits: FetchLimits;
  readonly #memory: LargeMemory;
  readonly #fetched = new Set<Lent>();
  #next: Extent | undefined;

  constructor(ranges: Iterable<SourceRange>, { limits, memory, ...fetching }: TrackMeans) {
    const { blockBytes: mostBytes, gapBytes } = limits;
    this.#extents = coalesce(ranges, { mostBytes, gapBytes });
    this.#fetching = fetching;
    this.#limits = limits;
    this.#memory = memory;
    this.#next = this.#extents.next().value;
    this.#fetchAhead();
  }

  /** Whether nothing of it is held, and nothing will be. */
  get isOver(): boolean {
    return this.#next === undefined && this.#fetched.size === 0;
  }

  /** Whether a block holds some of a range. */
  reaches({ start, end }: SourceRange): boolean {
    return this.find(start) !== undefined || this.nextStart(start, end) < end;
  }

  /** Answers the block that holds the byte at `offset`. */
  find(offset: number): FetchedBlock | undefined {
    for (const { block } of this.#fetched) if (block.start <= offset && offset < block.end) return block;
    return undefined;
  }

  /** Answers where the first block begins that lies behind `offset`, or `end` if none lies before it. */
  nextStart(offset: number, end: number): number {
    let next = end;
    for (const { block } of this.#fetched) if (block.start > offset) next = Math.min(next, block.start);
    return next;
  }

  /** These bytes were read in another way, and need not be fetched. */
  skip({ start, end }: SourceRange): void {
    while (this.#next && this.#next.start >= start && this.#next.start < end) {
      const left = this.#next.end - end;
      if (left <= 0) this.#next = this.#extents.next().value;
      else this.#next = { start: end, end: this.#next.end, wantedBytes: Math.min(this.#next.wantedBytes, left) };
    }
  }

  /** Drops what was read, and fetches what comes next. */
  advance(): void {
    for (const lent of this.#fetched)
      if ((lent.block.isDone || lent.isWanted) && !lent.block.hasReaders) this.#drop(lent);
    this.#fetchAhead();
  }

  #fetchAhead(): void {
    const { aheadBytes, aheadBlocks } = this.#limits;
    while (this.#next && this.#fetched.size < aheadBlocks) {
      const sizeBytes = this.#next.end - this.#next.start;
      if (this.#fetched.size > 0 && this.#heldBytes() + sizeBytes > aheadBytes) return;
      if (!this.#fetchNext(this.#next, sizeBytes)) return;
      this.#next = this.#extents.next().value;
    }
  }

  #heldBytes(): number {
    let bytes = 0;
    for (const { block } of this.#fetched) bytes += block.end - block.start;
    return bytes;
  }

  /** Answers false if there is no memory for it. */
  #fetchNext(extent: Extent, sizeBytes: number): boolean {
    let lent: Lent | undefined;
    const loan = this.#memory.lend(sizeBytes, () => {
      if (!lent) return;
      lent.isWanted = true;
      if (!lent.block.hasReaders) this.#drop(lent);
    });
    if (!loan) return false;
    lent = { block: new FetchedBlock(extent, this.#fetching), loan, isWanted: false };
    this.#fetched.add(lent);
    return true;
  }

  #drop(lent: Lent): void {
    this.#fetched.delete(lent);
    lent.block[Symbol.dispose]();
    lent.loan[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#next = undefined;
    for (const lent of [...this.#fetched]) this.#drop(lent);
  }
}

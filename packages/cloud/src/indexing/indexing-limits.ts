// The thread looks at its own heap before it reads, because V8 at its limit may end the process and not just the
// thread; V8's own limit is four times as high, above what one step of reading can add.

import { availableParallelism } from "node:os";

/** What one import may cost. Fixed, so that whether a file can be imported does not depend on the machine. */
export interface IndexingLimits {
  /** Files that are worked on at once, each in a thread of its own. */
  readonly threads: number;
  /**
   * Of a thread's JavaScript objects, looked at whenever it asks for bytes. Buffers are not part of it: large chunks are read in
   * pieces, and for what a decoder must hold it waits for its turn in the memory of the process.
   */
  readonly heapMegabytes: number;
  /** Where V8 ends a thread, or even the process: above the other by more than what one step of reading can ever add. */
  readonly heapCeilingMegabytes: number;
  /** A thread that keeps more than this after a file, garbage included, is not used again. */
  readonly reusableBytes: number;
  /** Between two looks at the clock. A process that was held up has fewer of them, and blames nobody for the time. */
  readonly tickMs: number;
  /** How long a thread may compute without asking for bytes. */
  readonly silentMs: number;
  /** How long a thread may compute in all: this much, and so much more for each GB of the file. */
  readonly computeMs: number;
  readonly computeMsPerGigabyte: number;
  /** How long the store may leave a read unanswered. */
  readonly readMs: number;
}

const MINUTE_MS = 60_000;

/** Verifying takes 1 to 3 s/GB, of bzip2 200; at a tenth of that speed everything sound is still within. */
export const indexingLimits: IndexingLimits = {
  threads: Math.min(Math.max(availableParallelism(), 2), 4),
  heapMegabytes: 512,
  heapCeilingMegabytes: 2048,
  reusableBytes: 128 * 1024 * 1024,
  tickMs: 1000,
  silentMs: 5 * MINUTE_MS,
  computeMs: 10 * MINUTE_MS,
  computeMsPerGigabyte: 30 * MINUTE_MS,
  readMs: 10 * MINUTE_MS,
};

// The thread checks its own heap before it reads, because V8 at its limit may end the process and not just the thread; V8's own limit is
// four times as high, above what one step of reading can add.

import { availableParallelism } from "node:os";

/** The cost that one import may have. It is fixed, so that the machine does not decide whether a file can be imported. */
export interface IndexingLimits {
  /** How many files are read at once, each in a thread of its own. */
  readonly threads: number;
  /**
   * The limit for a thread's JavaScript objects, checked whenever it requests bytes. Buffers are not part of it: large chunks are read in
   * pieces, and the memory that a decoder needs is taken by turns from that of the process.
   */
  readonly heapMegabytes: number;
  /** V8 ends the thread, or even the process, at this size: it is above the other limit by more than one step of reading can ever add. */
  readonly heapCeilingMegabytes: number;
  /** A thread that keeps more than this after a file, garbage included, is not used again. */
  readonly reusableBytes: number;
  /** The time between two checks of the clock. A process that was suspended makes fewer checks, so that no file is blamed for the time. */
  readonly tickMs: number;
  /** How long a thread may compute without requesting bytes. */
  readonly silentMs: number;
  /** How long a thread may compute in total: this much, and so much more for each GB of the file. */
  readonly computeMs: number;
  readonly computeMsPerGigabyte: number;
  /** How long the store may leave a read unanswered. */
  readonly readMs: number;
}

const MINUTE_MS = 60_000;

/** Verifying takes 1 to 3 s/GB, of bzip2 200; every intact file stays within the limits at a tenth of that speed. */
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

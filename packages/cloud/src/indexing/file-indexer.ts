// A stored file is hashed, verified and salvaged in a worker thread, which knows bytes and no rows. What the thread
// reads, it asks of the process that started it, range by range: any store will do, the thread holds no credential,
// and every range is a sign of progress.
//
// The file fails, not the worker: what a thread throws, its end, its heap and its silence each end one attempt of
// one import. `TooHeavy` is permanent at once, because the same file costs the same again. What may be our fault or
// the machine's (`IndexingFailed`, `ObjectMissing`) is only after twelve attempts, about half an hour. All are
// quarantined and can be retried.
//
// A thread is used again unless it keeps more than 128 MB. One that runs out of memory with an earlier file behind
// it is replaced, and the file is read again before it is blamed.

import type { RandomAccessSource } from "@downlink/recordings";
import { LARGE_FILE_BYTES } from "../jobs/large-file.ts";
import { openIndexStream, type StoreIndex } from "./index-stream.ts";
import { SalvageRefusedError, ThreadOutOfMemoryError } from "./indexing-errors.ts";
import { type IndexingLimits, indexingLimits } from "./indexing-limits.ts";
import { type IndexingThread, startIndexingThread, threadMain, type Work } from "./indexing-thread.ts";
import { streamPieces } from "./stream-pieces.ts";
import type { IndexedFile, SalvageInput } from "./thread-messages.ts";
import { createTurns } from "./turns.ts";

/**
 * Reads stored files in threads of their own, with bounded memory and time. A file that brings its thread down throws
 * {@link TooHeavyError} or {@link ThreadFailedError}, and harms no other. Throws what reading throws, and the signal's reason.
 */
export interface FileIndexer extends AsyncDisposable {
  /**
   * Reads every byte once: hashes and verifies the file, and makes its verified index. The index of a file that can be imported is
   * kept by `store` when this resolves; of another one nothing is kept. Throws what `store` throws.
   */
  index(source: RandomAccessSource, file: FileToIndex): Promise<IndexedFile>;
  /**
   * What is readable of an incomplete or damaged file, as a new one: an indexed MCAP, piece by piece, at the consumer's pace. Throws
   * {@link SalvageRefusedError} where nothing can be salvaged; what came before is not a whole file then.
   */
  salvage(source: RandomAccessSource, file: SalvageInput & { signal: AbortSignal }): AsyncIterable<Uint8Array>;
}

export interface FileToIndex {
  /** Only its extension matters. */
  readonly fileName: string;
  readonly signal: AbortSignal;
  /** May be called again: what it was given before is not wanted then. */
  readonly store: StoreIndex;
}

interface Options {
  readonly limits?: Partial<IndexingLimits>;
  /** What a thread runs. */
  readonly main?: URL;
}

/** Starts its first thread with the first file. */
export function openFileIndexer({ limits: given, main = threadMain }: Options = {}): FileIndexer {
  const limits = { ...indexingLimits, ...given };
  const inTurn = takeTurns(limits);
  const start = () => startIndexingThread(limits, main);
  const { index, end } = keepThreads(start);
  return {
    index(source, file) {
      const { fileName, signal } = file;
      const work = { task: { name: "index", input: { fileName } }, source, signal } as const;
      return inTurn(work, () => index(work, file.store));
    },
    salvage: (source, { signal, ...input }) =>
      streamPieces((take, stopped) => {
        const ended = AbortSignal.any([signal, stopped]);
        const work = { task: { name: "salvage", input }, source, signal: ended, take } as const;
        return inTurn(work, () => salvage(work, start()));
      }),
    [Symbol.asyncDispose]: end,
  };
}

/** As many files at once as there are threads; one thread is left to small ones. */
function takeTurns({ threads }: IndexingLimits) {
  const turns = createTurns(threads);
  const largeTurns = createTurns(Math.max(1, threads - 1));
  return async <T>({ source, signal }: Work, act: () => Promise<T>): Promise<T> => {
    using _largeTurn = source.sizeBytes > LARGE_FILE_BYTES ? await largeTurns.take(signal) : undefined;
    using _turn = await turns.take(signal);
    return await act();
  };
}

/** Threads are used again as long as they keep little of the files before. */
function keepThreads(start: () => IndexingThread) {
  const idle: IndexingThread[] = [];
  const takeIdle = () => {
    for (let thread = idle.pop(); thread; thread = idle.pop()) if (thread.isReusable()) return thread;
    return undefined;
  };

  async function indexOn(thread: IndexingThread, work: Work<"index">, store: StoreIndex): Promise<IndexedFile> {
    const stream = openIndexStream(store);
    try {
      const indexed = await thread.run({ ...work, take: stream.write });
      if ("summary" in indexed.verdict) await stream.end();
      else await stream.abandon();
      return indexed;
    } catch (error) {
      await stream.abandon();
      throw error;
    } finally {
      if (thread.isReusable()) idle.push(thread);
      else void thread.end();
    }
  }

  async function index(work: Work<"index">, store: StoreIndex): Promise<IndexedFile> {
    const thread = takeIdle() ?? start();
    const wasUsed = thread.isUsed();
    try {
      return await indexOn(thread, work, store);
    } catch (error) {
      if (!(error instanceof ThreadOutOfMemoryError && wasUsed)) throw error;
      return await indexOn(start(), work, store); // what earlier files left is not this one's fault
    }
  }

  return { index, end: async () => void (await Promise.all(idle.splice(0).map((thread) => thread.end()))) };
}

/** In a thread of its own: what was given out already cannot be made again in another one. */
async function salvage(work: Work<"salvage">, thread: IndexingThread): Promise<void> {
  try {
    const refusal = await thread.run(work);
    if (refusal) throw new SalvageRefusedError(refusal);
  } finally {
    await thread.end();
  }
}

// A stored file is hashed, verified and salvaged in a worker thread, which knows bytes and no rows. The thread requests the bytes that it
// reads from the process that started it, range by range. So it works with every store, holds no credential, and shows its progress by each
// range.

import type { RandomAccessSource } from "@downlink/recordings";
import { FairTurns } from "../../process/limits/fair-turns.ts";
import { LARGE_FILE_BYTES } from "../jobs/large-file.ts";
import { openIndexStream, type StoreIndex } from "./index-stream.ts";
import { SalvageRefusedError, ThreadOutOfMemoryError } from "./indexing-errors.ts";
import { type IndexingLimits, indexingLimits } from "./indexing-limits.ts";
import { type IndexingThread, startIndexingThread, threadMain, type Work } from "./indexing-thread.ts";
import { streamPieces } from "./stream-pieces.ts";
import { type StreamedReader, streamSource } from "./stream-source.ts";
import type { IndexedFile, SalvageInput, TaskName } from "./thread-messages.ts";

/**
 * Reads stored files in threads of their own, with bounded memory and time. A file that brings its thread down throws {@link TooHeavyError}
 * or {@link ThreadFailedError}, and harms no other file. Throws the errors of the source, and the signal's reason.
 */
export interface FileIndexer extends AsyncDisposable {
  /**
   * Reads every byte once: hashes and verifies the file, and makes its verified index. When this resolves, `store` has stored the index of
   * a file that can be imported; for any other file nothing is stored. Throws what `store` throws.
   */
  index(source: StoredFile, file: FileToIndex): Promise<IndexedFile>;
  /**
   * Salvages what is readable of an incomplete or damaged file, as a new one: an indexed MCAP, piece by piece, at the consumer's pace.
   * Throws {@link SalvageRefusedError} if nothing can be salvaged; the pieces before that are no whole file then.
   */
  salvage(source: StoredFile, file: SalvageInput & { signal: AbortSignal }): AsyncIterable<Uint8Array>;
}

/** A file, bytes, or an object that can be streamed. */
export type StoredFile = RandomAccessSource & Partial<Pick<StreamedReader, "stream">>;

type FileWork<N extends TaskName> = Work<N> & { readonly source: StoredFile };

export interface FileToIndex {
  /** Only the extension of the name matters. */
  readonly fileName: string;
  readonly signal: AbortSignal;
  /** May be called again: the pieces that it got before are then obsolete. */
  readonly store: StoreIndex;
}

interface FileIndexerOptions {
  readonly limits?: Partial<IndexingLimits>;
  /** The module that a thread runs. */
  readonly main?: URL;
}

/** Opens an indexer, which starts its first thread with the first file. */
export function openFileIndexer({ limits: given, main = threadMain }: FileIndexerOptions = {}): FileIndexer {
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

/** The files of all owners wait together, in the order in which they came, and as long as it takes. */
const FILE = { owner: "", hasBegun: true };
const newTurns = (count: number) => new FairTurns("files", { atOnce: count, perOwner: count, waiting: 0, waitMs: 0 });

/** As many files are read at once as there are threads; one thread is left to small files. */
function takeTurns({ threads }: IndexingLimits) {
  const turns = newTurns(threads);
  const largeTurns = newTurns(Math.max(1, threads - 1));
  return async <T>({ source, signal }: Work, act: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    using _largeTurn = source.sizeBytes > LARGE_FILE_BYTES ? await largeTurns.take(FILE, () => signal) : undefined;
    using _turn = await turns.take(FILE, () => signal);
    return await act();
  };
}

/**
 * A thread is used again unless it keeps more than 128 MB of earlier files. If one that has read a file before runs out of memory, it is
 * replaced, and the file is read again before it is blamed.
 */
function keepThreads(start: () => IndexingThread) {
  const idle: IndexingThread[] = [];
  const takeIdle = () => {
    for (let thread = idle.pop(); thread; thread = idle.pop()) if (thread.isReusable()) return thread;
    return undefined;
  };

  async function indexOn(thread: IndexingThread, work: FileWork<"index">, store: StoreIndex): Promise<IndexedFile> {
    const stream = openIndexStream(store);
    try {
      using source = toFileSource(work.source);
      const indexed = await thread.run({ ...work, source, take: stream.write });
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

  async function index(work: FileWork<"index">, store: StoreIndex): Promise<IndexedFile> {
    const thread = takeIdle() ?? start();
    const wasUsed = thread.isUsed();
    try {
      return await indexOn(thread, work, store);
    } catch (error) {
      if (!(error instanceof ThreadOutOfMemoryError && wasUsed)) throw error;
      return await indexOn(start(), work, store); // memory that earlier files left is not this one's fault
    }
  }

  return { index, end: async () => void (await Promise.all(idle.splice(0).map((thread) => thread.end()))) };
}

/** Files and bytes are read as they are. */
function toFileSource(source: StoredFile): RandomAccessSource & Disposable {
  const { sizeBytes, descriptor, stream } = source;
  const read = (offset: number, length: number) => source.read(offset, length);
  if (stream && descriptor === undefined) return streamSource({ sizeBytes, read, stream });
  return { sizeBytes, read, [Symbol.dispose]: () => {} };
}

/** In a thread of its own: what was given out already cannot be made again in another one. */
async function salvage(work: FileWork<"salvage">, thread: IndexingThread): Promise<void> {
  try {
    using source = toFileSource(work.source);
    const refusal = await thread.run({ ...work, source });
    if (refusal) throw new SalvageRefusedError(refusal);
  } finally {
    await thread.end();
  }
}

import type { RandomAccessSource } from "@downlink/recordings";
import { openIndexStream, type StoreIndex } from "./index-stream.ts";
import { ThreadOutOfMemory } from "./indexing-errors.ts";
import { type IndexingLimits, indexingLimits } from "./indexing-limits.ts";
import { type IndexingThread, startIndexingThread, threadMain } from "./indexing-thread.ts";
import { LARGE_FILE_BYTES } from "./large-file.ts";
import type { IndexedFile } from "./thread-messages.ts";
import { createTurns } from "./turns.ts";

/**
 * Reads stored files in threads of their own, with bounded memory and time. A file that brings its thread down throws
 * {@link TooHeavy} or {@link ThreadFailed}, and harms no other. Throws what reading throws, and the signal's reason.
 */
export interface FileIndexer extends AsyncDisposable {
  /**
   * Reads every byte once: hashes and verifies the file, and makes its verified index. The index of a file that can be imported is
   * kept by `store` when this resolves; of another one nothing is kept. Throws what `store` throws.
   */
  index(source: RandomAccessSource, file: FileToIndex): Promise<IndexedFile>;
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
  const turns = createTurns(limits.threads);
  const largeTurns = createTurns(Math.max(1, limits.threads - 1)); // one thread is left to small files
  const idle: IndexingThread[] = [];
  const takeIdle = () => {
    for (let thread = idle.pop(); thread; thread = idle.pop()) if (thread.isReusable()) return thread;
    return undefined;
  };

  async function runOn(thread: IndexingThread, source: RandomAccessSource, file: FileToIndex): Promise<IndexedFile> {
    const { fileName, signal, store } = file;
    const stream = openIndexStream(store);
    try {
      const { write } = stream;
      const indexed = await thread.run({ task: { name: "index", input: { fileName } }, source, signal, write });
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

  async function index(source: RandomAccessSource, file: FileToIndex): Promise<IndexedFile> {
    using _largeTurn = source.sizeBytes > LARGE_FILE_BYTES ? await largeTurns.take(file.signal) : undefined;
    using _turn = await turns.take(file.signal);
    const thread = takeIdle() ?? startIndexingThread(limits, main);
    const wasUsed = thread.isUsed();
    try {
      return await runOn(thread, source, file);
    } catch (error) {
      if (!(error instanceof ThreadOutOfMemory && wasUsed)) throw error;
      return await runOn(startIndexingThread(limits, main), source, file); // what earlier files left is not this one's fault
    }
  }

  return {
    index,
    [Symbol.asyncDispose]: async () => void (await Promise.all(idle.splice(0).map((thread) => thread.end()))),
  };
}

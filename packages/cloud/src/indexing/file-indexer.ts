import type { RandomAccessSource } from "@downlink/recordings";
import { ThreadOutOfMemory } from "./indexing-errors.ts";
import { type IndexingLimits, indexingLimits } from "./indexing-limits.ts";
import { type IndexingThread, startIndexingThread, threadMain } from "./indexing-thread.ts";
import type { FileVerdict } from "./judge-file.ts";
import { LARGE_FILE_BYTES } from "./large-file.ts";
import type { Task, TaskName, Tasks } from "./thread-messages.ts";
import { createTurns } from "./turns.ts";

/**
 * Reads stored files in threads of their own, with bounded memory and time. A file that brings its thread down throws
 * {@link TooHeavy} or {@link ThreadFailed}, and harms no other. Throws what reading throws, and the signal's reason.
 */
export interface FileIndexer extends AsyncDisposable {
  /** SHA-256 of all bytes, hexadecimal. */
  hash(source: RandomAccessSource, signal: AbortSignal): Promise<string>;
  /** Whether the file can be imported, and as what; every chunk and attachment is verified. */
  inspect(source: RandomAccessSource, file: { fileName: string; signal: AbortSignal }): Promise<FileVerdict>;
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

  async function runOn<N extends TaskName>(thread: IndexingThread, work: Work<N>): Promise<Tasks[N]["result"]> {
    try {
      return await thread.run(work.task, work.source, work.signal);
    } finally {
      if (thread.isReusable()) idle.push(thread);
      else void thread.end();
    }
  }

  async function run<N extends TaskName>(work: Work<N>): Promise<Tasks[N]["result"]> {
    using _largeTurn = work.source.sizeBytes > LARGE_FILE_BYTES ? await largeTurns.take(work.signal) : undefined;
    using _turn = await turns.take(work.signal);
    const thread = takeIdle() ?? startIndexingThread(limits, main);
    const wasUsed = thread.isUsed();
    try {
      return await runOn(thread, work);
    } catch (error) {
      if (!(error instanceof ThreadOutOfMemory && wasUsed)) throw error;
      return await runOn(startIndexingThread(limits, main), work); // what earlier files left is not this one's fault
    }
  }

  return {
    hash: (source, signal) => run({ task: { name: "hash", input: {} }, source, signal }),
    inspect: (source, { fileName, signal }) => run({ task: { name: "inspect", input: { fileName } }, source, signal }),
    [Symbol.asyncDispose]: async () => void (await Promise.all(idle.splice(0).map((thread) => thread.end()))),
  };
}

interface Work<N extends TaskName> {
  readonly task: Task<N>;
  readonly source: RandomAccessSource;
  readonly signal: AbortSignal;
}

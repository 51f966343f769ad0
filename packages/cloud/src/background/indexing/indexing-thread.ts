import { getCompileCacheDir } from "node:module";
import { dirname, extname } from "node:path";
import { Worker } from "node:worker_threads";
import { largeMemory, type RandomAccessSource } from "@downlink/recordings";
import { ThreadFailedError, ThreadOutOfMemoryError } from "./indexing-errors.ts";
import type { IndexingLimits } from "./indexing-limits.ts";
import type { Answer, FromThread, Task, TaskName, Tasks, ThreadData, ToThread } from "./thread-messages.ts";
import { watch } from "./watchdog.ts";

export interface IndexingThread {
  /** Says whether the thread worked on a file before. */
  isUsed(): boolean;
  /** Says whether the thread may get another file. */
  isReusable(): boolean;
  /** Runs one task at a time. After any error the thread must be ended. */
  run<N extends TaskName>(work: Work<N>): Promise<Tasks[N]["result"]>;
  end(): Promise<void>;
}

export interface Work<N extends TaskName = TaskName> {
  readonly task: Task<N>;
  readonly source: RandomAccessSource;
  readonly signal: AbortSignal;
  /** Takes what the task makes; the next piece comes once this has resolved. */
  readonly take?: (piece: Uint8Array) => Promise<void>;
}

/** In a checkout the thread runs the TypeScript source, and outside of it the .js file. */
export const threadMain = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url);

/** The folder in which Node keeps compiled code, of this version and others. Without it a thread takes three times as long to start. */
const compiledCode = getCompileCacheDir();
/** A thread that reads hostile files knows no secret. */
export const threadEnvironment = compiledCode === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiledCode) };

/** Starts a thread with its own heap; it keeps the process alive only while it works. */
export function startIndexingThread(limits: IndexingLimits, main: URL): IndexingThread {
  const worker = new Worker(main, {
    name: "indexing",
    env: threadEnvironment,
    workerData: { maxHeapBytes: limits.heapMegabytes * 1e6 } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapCeilingMegabytes },
  });
  worker.unref();
  worker.on("error", () => {}); // the running task gets the error; without a task there is no caller to inform
  const state = { isUsed: false, isReusable: true };
  worker.on("exit", () => {
    state.isReusable = false;
  });
  return {
    isUsed: () => state.isUsed,
    isReusable: () => state.isReusable,
    async run<N extends TaskName>(work: Work<N>) {
      Object.assign(state, { isUsed: true, isReusable: false });
      const done = await converse(worker, { ...work, limits });
      state.isReusable = done.heldBytes <= limits.reusableBytes;
      return done.result as Tasks[N]["result"];
    },
    end: async () => void (await worker.terminate()),
  };
}

interface Conversation extends Work {
  readonly limits: IndexingLimits;
}

type Done = Extract<FromThread, { kind: "done" }>;

/** Sends the task, then bytes as they are requested, until the thread is done or something fails. */
async function converse(worker: Worker, conversation: Conversation): Promise<Done> {
  const { task, source, signal, limits } = conversation;
  const { promise, resolve, reject } = Promise.withResolvers<Done>();
  using watchdog = watch({ sizeBytes: source.sizeBytes, limits, onExpired: reject });
  using memory = openHeldMemory(signal);
  const answer = async (asked: Asked) => {
    watchdog.asked();
    const given = await answerTo(asked, conversation);
    watchdog.answered();
    send(worker, given, given.kind === "bytes" ? [given.bytes.buffer] : []);
  };
  const hold = async ({ id, sizeBytes }: { id: number; sizeBytes: number }) => {
    watchdog.paused();
    await memory.take(id, sizeBytes);
    watchdog.resumed();
    send(worker, { kind: "held", id });
  };
  const onMessage = (message: FromThread) => {
    if (message.kind === "done") resolve(message);
    else if (message.kind === "read" || message.kind === "piece") answer(message).catch(reject);
    else if (message.kind === "hold") hold(message).catch(reject);
    else if (message.kind === "release") memory.release(message.id);
    else if (message.kind === "outOfMemory") reject(new ThreadOutOfMemoryError(limits.heapMegabytes));
    else reject(new ThreadFailedError("indexing the file failed", message.error));
  };
  const onError = (error: unknown) => reject(toFault(error, limits));
  const onExit = (code: number) =>
    reject(new ThreadFailedError(`the indexing thread ended by itself, with code ${code}`));
  const onAbort = () => reject(signal.reason);
  worker.on("message", onMessage).on("messageerror", onError).on("error", onError).on("exit", onExit).ref();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    send(worker, { kind: "run", task, sizeBytes: source.sizeBytes });
    return await promise;
  } finally {
    worker.off("message", onMessage).off("messageerror", onError).off("error", onError).off("exit", onExit).unref();
    signal.removeEventListener("abort", onAbort);
  }
}

type Asked = Extract<FromThread, { kind: "read" | "piece" }>;

async function answerTo(asked: Asked, { source, take }: Conversation): Promise<Answer> {
  const { id } = asked;
  if (asked.kind === "read")
    return { kind: "bytes", id, bytes: toOwnBytes(await source.read(asked.offset, asked.length)) };
  await take?.(asked.bytes);
  return { kind: "taken", id };
}

function send(worker: Worker, message: ToThread, transferred: ArrayBuffer[] = []): void {
  worker.postMessage(message, transferred);
}

/** The memory is moved to the thread and not copied, if nothing else lies in it. */
function toOwnBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

function toFault(error: unknown, { heapMegabytes }: IndexingLimits): Error {
  const isFull = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
  return isFull
    ? new ThreadOutOfMemoryError(heapMegabytes)
    : new ThreadFailedError("the indexing thread failed", error);
}

/** The share of a thread in the memory that the whole process shares. Disposing gives all of it back. */
interface HeldMemory extends Disposable {
  /** Resolves when its turn has come. Throws the signal's reason if the signal is aborted before. */
  take(id: number, sizeBytes: number): Promise<void>;
  release(id: number): void;
}

function openHeldMemory(signal: AbortSignal): HeldMemory {
  const held = new Map<number, Disposable>();
  const ended = new AbortController();
  const release = (id: number): void => {
    held.get(id)?.[Symbol.dispose]();
    held.delete(id);
  };
  return {
    async take(id, sizeBytes) {
      const turn = await largeMemory.take(sizeBytes, AbortSignal.any([signal, ended.signal]));
      held.set(id, turn);
      if (ended.signal.aborted) release(id);
    },
    release,
    [Symbol.dispose]() {
      ended.abort();
      for (const id of [...held.keys()]) release(id);
    },
  };
}

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type HoldMemory, holdFreely, largeMemory } from "../../memory/large-memory.ts";
import { type RandomAccessSource, SourceChangedError } from "../../sources/source.ts";
import type { JobAnswer, ToWorker } from "./rewrite-worker.ts";
import type { Job, JobResults } from "./run-job.ts";
import { type Answer, type Question, transferOf } from "./thread-messages.ts";

/** Threads that rewrite chunks for all exports of a process. An idle pool does not keep the process alive. */
export interface RewritePool extends AsyncDisposable {
  /** One for each export: the threads serve lanes in turn, however many jobs wait in one of them. */
  openLane(): RewriteLane;
}

/** Disposing it waits for the jobs under way: they may read files that are closed after. */
export interface RewriteLane extends AsyncDisposable {
  /**
   * Takes over the memory of the job. Rejects with the job's error, `SourceChangedError` where a recording is not what it was, and
   * for jobs that wait when the lane is closed.
   */
  run<J extends Job>(job: J, means?: JobMeans): Promise<JobResults[J["kind"]]>;
  /** Makes jobs fail that read much, also those under way, and those to come. */
  stop(): void;
  /** How many lanes share the threads. */
  readonly laneCount: number;
}

/** What this thread does for a job that reads much. */
export interface JobMeans extends Partial<Pick<RandomAccessSource, "read">> {
  /** Its memory is given back at the latest when the job ends. Default: as much as it likes. */
  hold?: HoldMemory | undefined;
}

/** `threadCount`: default as many as there are cores. Threads start with the first jobs. */
export function createRewritePool({ threadCount = availableParallelism() } = {}): RewritePool {
  /** The lane that is served next comes first. */
  const lanes: Waiting[][] = [];
  const idle = new Set<Worker>();
  const threads = new Set<Worker>();
  let isClosed = false;

  const takeNext = (): Waiting | undefined => {
    const index = lanes.findIndex((lane) => lane.length > 0);
    const [lane] = index < 0 ? [] : lanes.splice(index, 1);
    if (lane) lanes.push(lane);
    return lane?.shift();
  };
  const startThread = (): Worker => {
    // Not with the flags of the process: they may be for another kind of entry.
    const worker = new Worker(workerUrl, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb } });
    threads.add(worker);
    worker.once("exit", () => {
      threads.delete(worker);
      idle.delete(worker);
      dispatch();
    });
    return worker;
  };
  const dispatch = (): void => {
    while (!isClosed && (idle.size > 0 || threads.size < threadCount)) {
      const waiting = takeNext();
      if (!waiting) return;
      try {
        const [worker = startThread()] = idle;
        idle.delete(worker);
        serve(worker, waiting, () => {
          if (threads.has(worker)) idle.add(worker);
          dispatch();
        });
      } catch (error) {
        waiting.reject(error); // no thread could be started
      }
    }
  };
  const closeLane = (lane: Waiting[]): void => {
    const index = lanes.indexOf(lane);
    if (index >= 0) lanes.splice(index, 1);
    for (const { reject } of lane.splice(0)) reject(closedError());
  };
  const openLane = (): RewriteLane => {
    const lane: Waiting[] = [];
    const underWay = new Set<Promise<unknown>>();
    const stop = new Int32Array(new SharedArrayBuffer(4));
    lanes.unshift(lane);
    return {
      run<J extends Job>(job: J, means: JobMeans = {}) {
        const { promise, resolve, reject } = Promise.withResolvers<JobResults[J["kind"]]>();
        const ended = promise.then(ignore, ignore).finally(() => underWay.delete(ended));
        underWay.add(ended);
        if (!lanes.includes(lane)) reject(closedError());
        else lane.push({ job, stop, means, resolve: resolve as Waiting["resolve"], reject });
        dispatch();
        return promise;
      },
      get laneCount() {
        return lanes.length;
      },
      stop: () => void Atomics.store(stop, 0, 1),
      async [Symbol.asyncDispose]() {
        Atomics.store(stop, 0, 1);
        closeLane(lane);
        await Promise.all(underWay);
      },
    };
  };
  return {
    openLane,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const lane of [...lanes]) closeLane(lane);
      await Promise.all(Array.from(threads, (worker) => worker.terminate()));
    },
  };
}

function ignore(): void {}

/** Bytes of messages do not lie in V8's heap: what does is short-lived, and by default would take 48 MB of each thread. */
const maxYoungGenerationSizeMb = 4;

/** In the checkout the entry is TypeScript, in a build it is JavaScript. */
const workerUrl = new URL(`./rewrite-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

interface Waiting {
  job: Job;
  stop: Int32Array;
  means: JobMeans;
  resolve(result: JobResults[Job["kind"]]): void;
  reject(error: unknown): void;
}

/** One job on one thread; `onFree` when it can take another, never when it ended. */
function serve(worker: Worker, { job, stop, means, resolve, reject }: Waiting, onFree: () => void): void {
  const stopListening = (): void => {
    worker.off("message", onMessage).off("error", onError).off("exit", onExit).unref();
    help.end();
  };
  const tell = (message: ToWorker): void => worker.postMessage(message, transferOf(message));
  const help = helpWith(means, tell);
  const onMessage = (answer: JobAnswer): void => {
    if ("range" in answer || "hold" in answer || "release" in answer) {
      help.answer(answer);
      return;
    }
    stopListening();
    if ("result" in answer) resolve(answer.result);
    else if (help.failure) reject(help.failure.error);
    else if ("error" in answer) reject(answer.error);
    else reject(new SourceChangedError(answer.changed));
    onFree();
  };
  const onError = (error: unknown): void => {
    stopListening();
    reject(error);
  };
  const onExit = (): void => onError(new Error("a thread that rewrites chunks ended early"));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit).ref();
  try {
    tell({ job, stop });
  } catch (error) {
    onError(error);
    queueMicrotask(onFree);
  }
}

/** Does what a thread asks for. Why that failed is kept here: errors lose their class on the way between threads. */
function helpWith({ read, hold = holdFreely }: JobMeans, tell: (answer: Answer) => void) {
  const held = new Map<number, Disposable>();
  let hasEnded = false;
  const help = {
    failure: undefined as { error: unknown } | undefined,
    answer(question: Question): void {
      if ("release" in question) {
        release(question.release.id);
        return;
      }
      const { id } = "range" in question ? question.range : question.hold;
      const done = "range" in question ? readRange(question.range) : take(question.hold);
      done.then(tell, (error: unknown) => {
        help.failure = { error };
        tell({ id, failed: true });
      });
    },
    end(): void {
      hasEnded = true;
      for (const id of [...held.keys()]) release(id);
    },
  };
  const readRange = async ({ id, offset, length }: { id: number; offset: number; length: number }): Promise<Answer> => {
    return { id, bytes: ownBytes(await read!(offset, length)) };
  };
  const take = async ({ id, sizeBytes }: { id: number; sizeBytes: number }): Promise<Answer> => {
    held.set(id, await hold(sizeBytes));
    if (hasEnded) release(id);
    return { id };
  };
  const release = (id: number): void => {
    held.get(id)?.[Symbol.dispose]();
    held.delete(id);
  };
  return help;
}

/** What lies among other things in the same memory cannot be moved to a thread. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function closedError(): Error {
  return new Error("the export was ended");
}

interface Reader {
  signal?: AbortSignal | undefined;
  /** Default: the memory of the process. */
  hold?: HoldMemory | undefined;
}

/** What a job that reads much is helped with. It ends with its signal: the thread is free again. */
export function meansOf(recording: Pick<RandomAccessSource, "read">, reader: Reader): JobMeans {
  return {
    async read(offset, length) {
      reader.signal?.throwIfAborted();
      return recording.read(offset, length);
    },
    hold: holdOf(reader),
  };
}

export function holdOf({ signal, hold = (sizeBytes) => largeMemory.take(sizeBytes, signal) }: Reader): HoldMemory {
  return hold;
}

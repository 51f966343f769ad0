import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { SourceChangedError } from "../../source.ts";
import type { JobAnswer } from "./rewrite-worker.ts";
import type { Job, JobResults } from "./run-job.ts";
import { transferOf } from "./transfer.ts";

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
  run<J extends Job>(job: J): Promise<JobResults[J["kind"]]>;
  /** How many lanes share the threads. */
  readonly laneCount: number;
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
    lanes.unshift(lane);
    return {
      run<J extends Job>(job: J) {
        const { promise, resolve, reject } = Promise.withResolvers<JobResults[J["kind"]]>();
        const ended = promise.then(ignore, ignore).finally(() => underWay.delete(ended));
        underWay.add(ended);
        if (!lanes.includes(lane)) reject(closedError());
        else lane.push({ job, resolve: resolve as Waiting["resolve"], reject });
        dispatch();
        return promise;
      },
      get laneCount() {
        return lanes.length;
      },
      async [Symbol.asyncDispose]() {
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
  resolve(result: JobResults[Job["kind"]]): void;
  reject(error: unknown): void;
}

/** One job on one thread; `onFree` when it can take another, never when it ended. */
function serve(worker: Worker, { job, resolve, reject }: Waiting, onFree: () => void): void {
  const stopListening = (): void => {
    worker.off("message", onMessage).off("error", onError).off("exit", onExit).unref();
  };
  const onMessage = (answer: JobAnswer): void => {
    stopListening();
    if ("error" in answer) reject(answer.error);
    else if ("changed" in answer) reject(new SourceChangedError(answer.changed));
    else resolve(answer.result);
    onFree();
  };
  const onError = (error: unknown): void => {
    stopListening();
    reject(error);
  };
  const onExit = (): void => onError(new Error("a thread that rewrites chunks ended early"));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit).ref();
  try {
    worker.postMessage(job, transferOf(job));
  } catch (error) {
    onError(error);
    queueMicrotask(onFree);
  }
}

function closedError(): Error {
  return new Error("the export was ended");
}

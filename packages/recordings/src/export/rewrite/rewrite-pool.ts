import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Job, JobResults } from "./jobs.ts";
import { type JobMeans, serveJob, type WaitingJob } from "./serve-job.ts";

/**
 * Threads that rewrite chunks for all exports of a process. An idle pool does not keep the process alive.
 *
 * We use threads with blocking codecs, not asynchronous codecs: filtering and indexes are half of the work, and libuv's threads stay free
 * for files.
 */
export class RewritePool implements AsyncDisposable {
  readonly #threads: Threads;

  /** By default there are as many threads as cores. They start with the first jobs. */
  constructor({ threadCount = availableParallelism() } = {}) {
    this.#threads = new Threads(threadCount);
  }

  /** Opens a lane for an export. The threads serve lanes in turn, however many jobs wait in one of them. */
  openLane(): RewriteLane {
    return new Lane(this.#threads);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads.end();
  }
}

/** The jobs of one export. Disposing it waits for the jobs under way, because they may read files that are closed afterwards. */
export interface RewriteLane extends AsyncDisposable {
  /**
   * Takes over the memory of the job. Rejects with the job's error, with `SourceChangedError` if a recording is not what it was, and if the
   * job still waits when the lane is closed.
   */
  run<J extends Job>(job: J, means?: JobMeans): Promise<JobResults[J["kind"]]>;
  /** Makes jobs that read much fail, also those under way and those to come. */
  stop(): void;
  /** How many lanes share the threads. */
  readonly laneCount: number;
}

class Lane implements RewriteLane {
  readonly waiting: WaitingJob[] = [];
  readonly #threads: Threads;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Not 0 once no caller wants the results any more. Threads look at it while they read. */
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));

  constructor(threads: Threads) {
    this.#threads = threads;
    threads.lanes.unshift(this);
  }

  get laneCount(): number {
    return this.#threads.lanes.length;
  }

  run<J extends Job>(job: J, means: JobMeans = {}): Promise<JobResults[J["kind"]]> {
    const { promise, resolve, reject } = Promise.withResolvers<JobResults[J["kind"]]>();
    const ended = promise.then(ignore, ignore).finally(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
    const waiting = { job, stop: this.#stop, means, resolve: resolve as WaitingJob["resolve"], reject };
    if (this.#threads.lanes.includes(this)) this.waiting.push(waiting);
    else reject(closedError());
    this.#threads.dispatch();
    return promise;
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  /** Makes the waiting jobs fail, and those to come. */
  close(): void {
    const { lanes } = this.#threads;
    const index = lanes.indexOf(this);
    if (index >= 0) lanes.splice(index, 1);
    for (const { reject } of this.waiting.splice(0)) reject(closedError());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    this.close();
    await Promise.all(this.#underWay);
  }
}

/** Starts threads, and gives each that is idle the next job. */
class Threads {
  /** The lanes; the one that is served next comes first. */
  readonly lanes: Lane[] = [];
  readonly #most: number;
  readonly #all = new Set<Worker>();
  readonly #idle = new Set<Worker>();
  #isEnded = false;

  constructor(most: number) {
    this.#most = most;
  }

  dispatch(): void {
    while (!this.#isEnded && (this.#idle.size > 0 || this.#all.size < this.#most)) {
      const job = this.#takeNext();
      if (!job) return;
      try {
        const [worker = this.#start()] = this.#idle;
        this.#idle.delete(worker);
        serveJob(worker, job, () => this.#onFree(worker));
      } catch (error) {
        job.reject(error); // no thread could be started
      }
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    for (const lane of [...this.lanes]) lane.close();
    await Promise.all(Array.from(this.#all, (worker) => worker.terminate()));
  }

  #takeNext(): WaitingJob | undefined {
    const index = this.lanes.findIndex(({ waiting }) => waiting.length > 0);
    const [lane] = index < 0 ? [] : this.lanes.splice(index, 1);
    if (lane) this.lanes.push(lane);
    return lane?.waiting.shift();
  }

  #start(): Worker {
    // The thread does not get the flags of the process, which may be for another kind of entry.
    const worker = new Worker(workerUrl, {
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_GENERATION_SIZE_MB },
    });
    this.#all.add(worker);
    worker.once("exit", () => {
      this.#all.delete(worker);
      this.#idle.delete(worker);
      this.dispatch();
    });
    return worker;
  }

  #onFree(worker: Worker): void {
    if (this.#all.has(worker)) this.#idle.add(worker);
    this.dispatch();
  }
}

function ignore(): void {}

function closedError(): Error {
  return new Error("the export was ended");
}

/**
 * Bytes of messages do not lie in V8's heap. The objects that do are short-lived, and would take 48 MB of each thread by default.
 */
const MAX_YOUNG_GENERATION_SIZE_MB = 4;

/** In the checkout the entry is TypeScript, in a build it is JavaScript. */
const workerUrl = new URL(`./rewrite-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

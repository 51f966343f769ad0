import { noTracing, type Tracing } from "@downlink/tracing";
import { fromPrisma, type Job, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Transaction } from "../../db/transaction.ts";
import type { Metrics } from "../../process/metrics/metrics.ts";
import { nextPriority } from "./fair-order.ts";
import { openJobConnections } from "./job-connections.ts";
import { indexJobs } from "./job-indexes.ts";
import type { JobData, JobHandlers, JobName, JobQueue } from "./queue.ts";
import { formerQueuesOf, jobNames, queueOf } from "./queue-names.ts";

const CONNECTIONS = 4;
const HEARTBEAT_SECONDS = 10;
/** One process in all looks that often for jobs whose worker died: with the heartbeat they are taken over within 20 s. */
const LOOK_FOR_DEAD_SECONDS = 10;
/** A process that stops gives its jobs so long to end by themselves, and leaves the others to another one. */
const FINISH_MS = 1000;
/** From the beginning of a stop, jobs have so long to report that they ended, so that no other process has to wait for them. */
const STOP_MS = 5000;
const EXPIRE_SECONDS = 24 * 3600; // a 50 GB file may take hours; a dead worker is noticed by its heartbeat
/** How often each worker looks for jobs that it is not notified of: those that are tried again, and those that were to wait. */
const LOOK_SECONDS = 2;
const RETRY_LIMIT = 1000; // the handler ends a job; this is only for workers that died

/** A recording that cannot be indexed is not tried again with each export. (The policy of an existing queue cannot be changed.) */
const INDEX_AGAIN_SECONDS = 3600;
/** A robot that asks for a permit asks again each minute. */
const READ_AGAIN_SECONDS = 600;
const MADE_AGAIN_SECONDS = 2;

/** These jobs are queued by the clock, for the whole deployment. */
const schedules = {
  reconcile: "* * * * *",
  "list-buckets": "* * * * *",
  sweep: "41 3 * * *",
  scrub: "*/10 * * * *",
  "walk-store": "* * * * *",
  heal: "*/10 * * * *",
} satisfies Partial<Record<JobName, string>>;

/** Jobs that the clock queues at the times of the operator. Undefined: never. */
type ChosenSchedules = { readonly [N in "back-up"]?: string | undefined };

/** These are done one after the other, as those of the clock are: they read much, or only make exports faster. */
const oneAtOnce: readonly JobName[] = [
  "build-training-set",
  "index-recording",
  "read-stored",
  "make-thumbnails",
  "judge-listed",
  "list-bucket",
  "back-up",
];

/** Such a queue takes no other job while one waits, runs or is to be tried again. */
const exclusive: readonly string[] = [queueOf("back-up"), queueOf("scrub")];

function workersOf(name: JobName, concurrency: number): number {
  return name in schedules || oneAtOnce.includes(name) ? 1 : concurrency;
}

/** How the workers look for jobs. */
export interface JobLook {
  /** How often each worker looks for jobs that it is not notified of; the default is 2 s. */
  readonly lookSeconds?: number;
  /** How many connections the workers share, beside the one that listens; the default is 4. */
  readonly connections?: number;
}

interface StartOptions extends QueueOptions {
  /** The URL of the database. */
  readonly url: string;
}

interface QueueOptions extends JobLook {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A job continues the trace of what queued it. */
  readonly tracing?: Tracing;
  /** How long an object stays before it is removed, if the caller that queues the removal sets no other delay. */
  readonly removalDelaySeconds?: number;
}

interface Once {
  readonly name: "index-recording" | "read-stored" | "make-thumbnails";
  readonly orgId: string;
  /** A recording gets one such job in each span of so many seconds. */
  readonly singletonSeconds: number;
}

/** Jobs in the control plane's own Postgres. `startWorking` may be called in any number of processes. */
export class PgBossQueue implements JobQueue, AsyncDisposable {
  readonly #boss: PgBoss;
  readonly #opened: AsyncDisposable;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #tracing: Tracing;
  readonly #stopping = new AbortController();
  readonly #removalDelaySeconds: number;
  readonly #lookSeconds: number;

  private constructor(
    boss: PgBoss,
    opened: AsyncDisposable,
    { log, metrics, tracing = noTracing, removalDelaySeconds = 0, lookSeconds = LOOK_SECONDS }: QueueOptions,
  ) {
    this.#boss = boss;
    this.#opened = opened;
    this.#log = log;
    this.#metrics = metrics;
    this.#tracing = tracing;
    this.#removalDelaySeconds = removalDelaySeconds;
    this.#lookSeconds = lookSeconds;
  }

  static async start({ url, connections = CONNECTIONS, ...options }: StartOptions): Promise<PgBossQueue> {
    const { log } = options;
    await using opened = new AsyncDisposableStack();
    const db = opened.use(openJobConnections({ url, log, connections }));
    const boss = new PgBoss({
      db,
      useListenNotify: true,
      superviseIntervalSeconds: LOOK_FOR_DEAD_SECONDS / 2,
      monitorIntervalSeconds: LOOK_FOR_DEAD_SECONDS,
    });
    boss.on("error", (error) => log.warn({ err: error }, "job queue error"));
    opened.defer(() => boss.stop({ graceful: false })); // its timers would keep a process alive whose start failed
    await boss.start();
    const queues = jobNames.flatMap((name) => [queueOf(name), ...formerQueuesOf(name)]);
    const present = new Set((await boss.getQueues(queues)).map(({ name }) => name));
    for (const queue of queues.filter((name) => !present.has(name)))
      await boss.createQueue(queue, {
        policy: exclusive.includes(queue) ? "exclusive" : "standard",
        notify: true,
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds: EXPIRE_SECONDS,
        retryLimit: RETRY_LIMIT,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 300,
      });
    await indexJobs(db);
    return new PgBossQueue(boss, opened.move(), options);
  }

  enqueue: JobQueue["enqueue"] = async (tx, { name, data, delaySeconds = this.#delayOf(name) }) => {
    const db = fromPrisma(tx);
    const owner = ownerOf(data);
    const queue = queueOf(name);
    const turn = owner && { group: { id: owner }, priority: await nextPriority(db, queue, owner) };
    await this.#boss.send(queue, this.#withTrace(data), { db, startAfter: delaySeconds, ...turn });
  };

  #delayOf(name: JobName): number {
    return name === "remove-object" ? this.#removalDelaySeconds : 0;
  }

  enqueueAll: JobQueue["enqueueAll"] = async (tx, name, all) => {
    const [first] = all;
    if (!first) return;
    const db = fromPrisma(tx);
    const queue = queueOf(name);
    const { orgId } = first;
    const priority = await nextPriority(db, queue, orgId);
    const jobs = all.map((data, at) => ({
      data: this.#withTrace(data),
      group: { id: orgId },
      priority: priority - at,
    }));
    await this.#boss.insert(queue, jobs, { db });
  };

  enqueueRemovals: JobQueue["enqueueRemovals"] = async (tx, blobKeys) => {
    const jobs = blobKeys.map((blobKey) => ({ data: this.#withTrace({ blobKey }) }));
    await this.#boss.insert(queueOf("remove-object"), jobs, { db: fromPrisma(tx) });
  };

  enqueueIndexing: JobQueue["enqueueIndexing"] = (tx, orgId, recordingIds) =>
    this.#enqueueOnce(tx, { name: "index-recording", orgId, singletonSeconds: INDEX_AGAIN_SECONDS }, recordingIds);

  enqueueReading: JobQueue["enqueueReading"] = (tx, orgId, recordingIds) =>
    this.#enqueueOnce(tx, { name: "read-stored", orgId, singletonSeconds: READ_AGAIN_SECONDS }, recordingIds);

  enqueueThumbnails: JobQueue["enqueueThumbnails"] = (tx, orgId, recordingIds) =>
    this.#enqueueOnce(tx, { name: "make-thumbnails", orgId, singletonSeconds: MADE_AGAIN_SECONDS }, recordingIds);

  async #enqueueOnce(tx: Transaction, { name, orgId, singletonSeconds }: Once, recordingIds: readonly string[]) {
    const db = fromPrisma(tx);
    const queue = queueOf(name);
    const first = await nextPriority(db, queue, orgId);
    const jobs = recordingIds.map((recordingId, at) => ({
      data: this.#withTrace({ orgId, recordingId }),
      group: { id: orgId },
      priority: first - at,
      singletonKey: recordingId,
      singletonSeconds,
    }));
    await this.#boss.insert(queue, jobs, { db });
  }

  /** The trace goes along in the job's row. */
  #withTrace<D extends object>(data: D): D {
    const traceparent = this.#tracing.traceparent();
    return traceparent === undefined ? data : { ...data, traceparent };
  }

  async startWorking(handlers: JobHandlers, concurrency: number, chosen: ChosenSchedules = {}): Promise<void> {
    for (const name of jobNames) {
      await this.#work(name, queueOf(name), { handlers, concurrency: workersOf(name, concurrency) });
      for (const queue of formerQueuesOf(name)) await this.#work(name, queue, { handlers, concurrency: 1 });
    }
    for (const [name, cron] of Object.entries(schedules) as [JobName, string][]) {
      for (const queue of formerQueuesOf(name)) await this.#boss.unschedule(queue);
      await this.#boss.schedule(queueOf(name), cron);
    }
    for (const [name, cron] of Object.entries(chosen) as [JobName, string | undefined][])
      await (cron === undefined
        ? this.#boss.unschedule(queueOf(name))
        : this.#boss.schedule(queueOf(name), cron, {}, { missed: "once" }));
  }

  async #work<N extends JobName>(
    name: N,
    queue: string,
    { handlers, concurrency }: { readonly handlers: JobHandlers; readonly concurrency: number },
  ): Promise<void> {
    // Each fetch takes two jobs, or a burst of notifications is drained slowly; there are several workers, so that a slow job holds up only
    // one of them.
    const options = {
      batchSize: 2,
      localConcurrency: concurrency,
      perJobResults: true,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: LOOK_SECONDS,
      notifyPollingIntervalSeconds: this.#lookSeconds,
    };
    await this.#boss.work(queue, options, (jobs: Job<never>[]) =>
      Promise.all(jobs.map((job) => this.#run(name, job, handlers))),
    );
  }

  #run<N extends JobName>(name: N, { data: queued, ...job }: Job<never>, handlers: JobHandlers) {
    const { traceparent = "", ...data } = (queued ?? {}) as JobData[N] & { readonly traceparent?: string };
    const span = { name: `job ${name}`, kind: "consumer", parent: traceparent } as const;
    const work = (signal: AbortSignal) => handlers[name](data as JobData[N], signal);
    return this.#tracing.inSpan(span, ({ fail }) => this.#measure(name, { ...job, data, work, fail }));
  }

  async #measure(name: JobName, job: Running) {
    const took = this.#metrics.jobSeconds.startTimer({ queue: name });
    try {
      await job.work(AbortSignal.any([job.signal, this.#stopping.signal]));
      took({ outcome: "completed" });
      return { id: job.id, status: "completed" as const };
    } catch (error) {
      took({ outcome: "failed" });
      job.fail("failed");
      if (this.#stopping.signal.aborted) this.#log.info({ job: name, data: job.data }, "job left to another process");
      else this.#log.error({ err: error, job: name, data: job.data }, "job failed; it is tried again");
      return { id: job.id, status: "failed" as const };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using _opened = this.#opened; // closed last, also if stopping fails
    const stop = () => this.#stopping.abort(new Error("this process stops"));
    const finishing = setTimeout(stop, FINISH_MS);
    // pg-boss itself would hand over a job first and stop it then, when the next worker has already found it busy.
    await this.#boss.stop({ graceful: true, timeout: STOP_MS });
    clearTimeout(finishing);
  }
}

interface Running extends Pick<Job, "id" | "signal"> {
  readonly data: object;
  readonly work: (signal: AbortSignal) => Promise<void>;
  readonly fail: (message: string) => void;
}

/** Returns the owner of a job; undefined: the job belongs to the whole deployment. */
function ownerOf(data: JobData[JobName]): string | undefined {
  if ("orgId" in data) return data.orgId;
  return "blobKey" in data ? data.blobKey.split("/", 1)[0] : undefined;
}

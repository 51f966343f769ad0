import { fromPrisma, type Job, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Metrics } from "../metrics/metrics.ts";
import { indexOwners, nextPriority } from "./fair-order.ts";
import type { JobData, JobHandlers, JobName, JobQueue } from "./queue.ts";

const HEARTBEAT_SECONDS = 10;
const EXPIRE_SECONDS = 24 * 3600; // a 50 GB file may take hours; a dead worker is seen by its heartbeat
const RETRY_LIMIT = 1000; // a job ends by its handler; this covers only workers that died

/** What cannot be indexed is not tried with each export; the policy of a queue that is there cannot be changed. */
const INDEX_AGAIN_SECONDS = 3600;

const jobNames: readonly JobName[] = [
  "ingest",
  "ingest-large",
  "index-recording",
  "salvage",
  "remove-object",
  "reconcile",
  "sweep",
];

interface QueueOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Jobs on the control plane's own Postgres. `startWorking` may be called in any number of processes. */
export class PgBossQueue implements JobQueue, AsyncDisposable {
  readonly #boss: PgBoss;
  readonly #log: Logger;
  readonly #metrics: Metrics;

  private constructor(boss: PgBoss, { log, metrics }: QueueOptions) {
    this.#boss = boss;
    this.#log = log;
    this.#metrics = metrics;
  }

  static async start({ url, ...options }: QueueOptions & { url: string }): Promise<PgBossQueue> {
    const { log } = options;
    const boss = new PgBoss({
      connectionString: url,
      max: 4,
      useListenNotify: true,
      application_name: "downlink-jobs",
    });
    boss.on("error", (error) => log.warn({ err: error }, "job queue error"));
    await boss.start();
    for (const name of jobNames)
      await boss.createQueue(name, {
        notify: true,
        heartbeatSeconds: HEARTBEAT_SECONDS,
        expireInSeconds: EXPIRE_SECONDS,
        retryLimit: RETRY_LIMIT,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 300,
      });
    await indexOwners(boss.getDb());
    return new PgBossQueue(boss, options);
  }

  enqueue: JobQueue["enqueue"] = async (tx, { name, data, delaySeconds = 0 }) => {
    const db = fromPrisma(tx);
    const owner = ownerOf(data);
    const turn = owner && { group: { id: owner }, priority: await nextPriority(db, name, owner) };
    await this.#boss.send(name, data, { db, startAfter: delaySeconds, ...turn });
  };

  enqueueIndexing: JobQueue["enqueueIndexing"] = async (tx, orgId, recordingIds) => {
    const db = fromPrisma(tx);
    const first = await nextPriority(db, "index-recording", orgId);
    const jobs = recordingIds.map((recordingId, at) => ({
      data: { orgId, recordingId },
      group: { id: orgId },
      priority: first - at,
      singletonKey: recordingId,
      singletonSeconds: INDEX_AGAIN_SECONDS,
    }));
    await this.#boss.insert("index-recording", jobs, { db });
  };

  async startWorking(handlers: JobHandlers, concurrency: number): Promise<void> {
    await this.#work("ingest", handlers, concurrency);
    await this.#work("ingest-large", handlers, concurrency);
    await this.#work("index-recording", handlers, 1);
    await this.#work("salvage", handlers, concurrency);
    await this.#work("remove-object", handlers, concurrency);
    await this.#work("reconcile", handlers, 1);
    await this.#boss.schedule("reconcile", "* * * * *");
    await this.#work("sweep", handlers, 1);
    await this.#boss.schedule("sweep", "41 3 * * *");
  }

  async #work<N extends JobName>(name: N, handlers: JobHandlers, concurrency: number): Promise<void> {
    // Two a fetch, or a burst of notifications is drained slowly; several workers, so that a slow job holds up one of them only.
    const options = {
      batchSize: 2,
      localConcurrency: concurrency,
      perJobResults: true,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 2,
      notifyPollingIntervalSeconds: 2,
    } as const;
    await this.#boss.work(name, options, (jobs: Job<never>[]) =>
      Promise.all(jobs.map((job) => this.#run(name, job, handlers))),
    );
  }

  async #run<N extends JobName>(name: N, job: Job<never>, handlers: JobHandlers) {
    const took = this.#metrics.jobSeconds.startTimer({ queue: name });
    try {
      await handlers[name](job.data ?? {}, job.signal);
      took({ outcome: "completed" });
      return { id: job.id, status: "completed" as const };
    } catch (error) {
      took({ outcome: "failed" });
      this.#log.error({ err: error, job: name, data: job.data }, "job failed; it is tried again");
      return { id: job.id, status: "failed" as const };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ graceful: true, timeout: 5000 });
  }
}

/** Whose job it is; undefined: that of the whole deployment. */
function ownerOf(data: JobData[JobName]): string | undefined {
  if ("orgId" in data) return data.orgId;
  return "blobKey" in data ? data.blobKey.split("/", 1)[0] : undefined;
}

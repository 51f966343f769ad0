import { pino } from "pino";
import { createMetrics } from "../../../process/metrics/metrics.ts";
import { PgBossQueue } from "../pg-boss-queue.ts";
import type { JobHandlers } from "../queue.ts";

// Takes jobs and never ends them, until it is killed. It prints the request of each one.
const jobs = await PgBossQueue.start({
  url: process.argv[2]!,
  log: pino({ level: "silent" }),
  metrics: createMetrics(),
});
const ingest: JobHandlers["ingest"] = ({ requestId }) => {
  process.stdout.write(`${requestId}\n`);
  return new Promise(() => {});
};
const handlers = new Proxy({} as JobHandlers, {
  get: (_target, name) => (name === "ingest" ? ingest : async () => {}),
});
await jobs.startWorking(handlers, 4);

import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { createMetrics } from "../../process/metrics/metrics.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { PgBossQueue } from "./pg-boss-queue.ts";

const END_OTHERS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

test("a server that ends its connections while the queue is being closed ends no process", async (t) => {
  const url = await createTestDatabase(t);
  const log = pino({ level: "silent" });
  const server = new pg.Client({ connectionString: url });
  t.after(() => server.end());
  await server.connect();
  for (let round = 0; round < 5; round++) {
    const queue = await PgBossQueue.start({ url, log, metrics: createMetrics() });
    assert.ok((await server.query(END_OTHERS)).rowCount! > 0);
    await queue[Symbol.asyncDispose]();
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Pool } from "pg";
import { pino } from "pino";
import { createTestDatabase } from "../testing/test-database.ts";
import { PostgresWorkSignals } from "./work-signals.ts";

test("the loss of the connection wakes whoever waits, and ends nothing", async (t) => {
  const url = await createTestDatabase(t);
  const pool = new Pool({ connectionString: url, max: 1 });
  try {
    await using signals = await PostgresWorkSignals.start({ pool, url, log: pino({ level: "silent" }) });
    const { signal } = new AbortController();
    const waits = ["dev_1", "dev_2", "dev_1"].map((id) => signals.wait(id, { timeoutMs: 60_000, signal }));
    await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'downlink-work-signals' AND datname = current_database()`);
    await Promise.all(waits);
    assert.deepEqual([signals.waiting("dev_1"), signals.waiting("dev_2")], [0, 0]);
  } finally {
    await pool.end();
  }
});

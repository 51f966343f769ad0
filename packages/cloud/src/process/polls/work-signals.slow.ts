import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { Pool } from "pg";
import { pino } from "pino";
import { createTestDatabase } from "../../testing/test-database.ts";
import { listenForWorkSignals } from "./work-signals.ts";

const LISTENERS = `FROM pg_stat_activity WHERE application_name = 'downlink-work-signals' AND datname = current_database()`;

async function startSignals(t: TestContext, proof: { proofIntervalMs?: number; proofTimeoutMs?: number } = {}) {
  const url = await createTestDatabase(t);
  const pool = new Pool({ connectionString: url, max: 1 });
  const received: string[] = [];
  const listener = {
    onSignal: (owner: string) => void received.push(owner),
    onMissedSignals: () => void received.push("nothing"),
  };
  const signals = await listenForWorkSignals({ url, listener, log: pino({ level: "silent" }), ...proof });
  t.after(async () => {
    await signals[Symbol.asyncDispose]();
    await pool.end();
  });
  const receives = async (owner: string) => {
    await pool.query("SELECT pg_notify('downlink_work', $1)", [owner]);
    return received.includes(owner);
  };
  return { pool, received, receives };
}

test("listeners learn of a lost connection when it is lost and when it is back, and nothing else ends", async (t) => {
  const late = { proofIntervalMs: 60_000, proofTimeoutMs: 60_000 }; // A busy machine delivers no proof in time, which another test covers.
  const { pool, received, receives } = await startSignals(t, late);
  await eventually(() => receives("dev_1"), Boolean);
  const before = received.length;
  await pool.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
  await eventually(() => receives("dev_2"), Boolean);
  const since = () => received.slice(before).filter((one) => one === "nothing" || one === "dev_2");
  const gaps = async () => since().filter((one) => one === "nothing").length;
  await eventually(gaps, (count) => count >= 2); // The second one may come just after the first signal that arrives again.
  assert.deepEqual([since()[0], await gaps()], ["nothing", 2]);
});

test("a connection that only seems to be alive is given up, and a new one receives signals", async (t) => {
  const { pool, received, receives } = await startSignals(t, { proofIntervalMs: 50, proofTimeoutMs: 200 });
  await eventually(() => receives("dev_1"), Boolean);
  const { rows } = await pool.query<{ pid: number }>(`SELECT pid ${LISTENERS}`);
  process.kill(rows[0]!.pid, "SIGSTOP");
  t.after(() => process.kill(rows[0]!.pid, "SIGCONT"));
  await eventually(() => receives("dev_2"), Boolean);
  assert.ok(received.includes("nothing"));
});

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { holdRemovals } from "../../recovery/removals-held.ts";
import { inPieces } from "../../store/blobs/testing/pieces.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { removeOrPutOff } from "../manifests/remove-or-put-off.ts";
import { sweepBySchedule } from "./scheduled-sweep.ts";
import { sweep } from "./sweep.ts";

const cloud = await startCloud({ after }, { works: false });
const { deps } = cloud;
const { orgId } = await deps.db.prisma.project.findFirstOrThrow();
const IN_A_MONTH_MS = 30 * 86_400_000;

async function store(): Promise<string> {
  const key = `${orgId}/${newId("upl")}`;
  await deps.blobs.put(key, inPieces(Buffer.from("bytes")));
  return key;
}

const jobs = async () => {
  const { rows } = await deps.db.pool.query(
    `SELECT data->>'blobKey' AS key, start_after > now() + interval '30 s' AS "isLater" FROM pgboss.job WHERE name = 'remove-object.2'`,
  );
  return rows;
};

test("while a backup is made no object is removed: the job is delayed, and the sweep does not begin", async () => {
  const key = await store();
  const held = (await holdRemovals(deps.db.pool))!;
  await removeOrPutOff(deps, key);
  assert.ok(await deps.blobs.stat(key));
  assert.deepEqual(await jobs(), [{ key, isLater: true }]);
  const options = { isDryRun: false, olderThanHours: 168, includesUnknown: true, nowMs: Date.now() + IN_A_MONTH_MS };
  await assert.rejects(Array.fromAsync(sweep(deps, options)), /nothing is destroyed now: a backup is being made/);
  await sweepBySchedule(deps, new AbortController().signal);
  assert.ok(await deps.blobs.stat(key));
  await held.requireHeld();
  await held[Symbol.asyncDispose]();
  await removeOrPutOff(deps, key);
  assert.equal(await deps.blobs.stat(key), undefined);
});

test("an object that a job will remove later, because backups need it, is left alone by the sweep", async () => {
  const [held, leftover] = [await store(), await store()];
  const later = { name: "remove-object", data: { blobKey: held }, delaySeconds: 30 * 86_400 } as const;
  await withTransaction(deps.db, (tx) => deps.jobs.enqueue(tx, later));
  const options = { isDryRun: false, olderThanHours: 168, includesUnknown: true, nowMs: Date.now() + IN_A_MONTH_MS };
  const found = await Array.fromAsync(sweep(deps, options));
  assert.deepEqual(
    found.map(({ key, outcome }) => ({ key, outcome })),
    [{ key: leftover, outcome: "removed" }],
  );
  await deps.db.pool.query(`UPDATE pgboss.job SET start_after = now() WHERE data ->> 'blobKey' = '${held}'`);
  assert.equal((await Array.fromAsync(sweep(deps, options)))[0]?.key, held, "from then on nothing needs it");
});

test("there is one backup at a time, and a backup whose connection is lost notices it and holds nothing", async () => {
  const held = (await holdRemovals(deps.db.pool))!;
  assert.equal(await holdRemovals(deps.db.pool), undefined);
  await deps.db.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND locktype = 'advisory' AND mode = 'ExclusiveLock' AND classid = 72707370 AND granted`);
  await assert.rejects(held.requireHeld());
  await held[Symbol.asyncDispose]();
  const key = await store();
  await removeOrPutOff(deps, key);
  assert.equal(await deps.blobs.stat(key), undefined);
  await (await holdRemovals(deps.db.pool))![Symbol.asyncDispose]();
});

test("a sweep that finds nothing stops at the end of a page, too", async () => {
  const stopping = new AbortController();
  let listed = 0;
  async function* list() {
    for (; listed < 100_000; listed += 1) {
      if (listed === 1000) stopping.abort();
      yield { key: `${orgId}/${newId("upl")}`, isWhole: true, sizeBytes: 1, modifiedAtMs: Date.now() };
    }
  }
  const swept = sweepBySchedule({ ...deps, blobs: { ...deps.blobs, list } }, stopping.signal);
  await assert.rejects(swept, { name: "AbortError" });
  assert.ok(listed <= 1500, `${listed} objects were listed`);
});

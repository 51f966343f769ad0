import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { readConfig } from "../../config.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { holdRemovals } from "../../recovery/removals-held.ts";
import { openFileFolder } from "../../store/blobs/file-folder.ts";
import { inPieces } from "../../store/blobs/testing/pieces.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { listBackups, OBJECTS } from "./backup-record.ts";
import { backUpBySchedule } from "./scheduled-backup.ts";

const NIGHTLY = "30 2 * * *";
const DAY_NS = 86_400_000_000_000n;
const going = new AbortController().signal;

/** A control plane that makes backups by itself, and one object in its store. */
async function start(t: TestContext, { works = false, ...more }: { works?: boolean; keepDaily?: string } = {}) {
  const place = await mkdtemp(join(tmpdir(), "downlink-scheduled-"));
  t.after(() => rm(place, { recursive: true }));
  const clock = createRunningClock();
  const environment = {
    DOWNLINK_BACKUP_SCHEDULE: NIGHTLY,
    DOWNLINK_BACKUP_TO: place,
    ...(more.keepDaily && { DOWNLINK_BACKUP_KEEP_DAILY: more.keepDaily, DOWNLINK_BACKUP_KEEP_WEEKLY: "0" }),
  };
  const { deps, url } = await startCloud(t, { clock, works, environment });
  await deps.blobs.put(`org_backup/${newId("upl")}`, inPieces(Buffer.alloc(10)));
  const listComplete = async () => {
    using folder = await openFileFolder(place);
    return (await listBackups(folder)).complete;
  };
  const readMetric = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/^downlink_last_backup_timestamp_seconds (\S+)$/m.exec(metrics)![1]);
  };
  return { clock, deps, place, listComplete, readMetric };
}

const enqueue = (deps: Awaited<ReturnType<typeof start>>["deps"]) =>
  withTransaction(deps.db, (tx) => deps.jobs.enqueue(tx, { name: "back-up", data: {} }));

test("the worker keeps the operator's schedule, and its job makes a backup that counts", async (t) => {
  const { deps, place, listComplete, readMetric } = await start(t, { works: true });
  const { prisma } = deps.db;
  const schedules = await prisma.$queryRaw<{ cron: string; timezone: string }[]>`
    SELECT cron, timezone FROM pgboss.schedule WHERE name = 'back-up'`;
  assert.deepEqual(schedules, [{ cron: NIGHTLY, timezone: "UTC" }]);
  assert.equal(await readMetric(), 0);
  await enqueue(deps);
  const [backup] = await eventually(
    () => prisma.backup.findMany(),
    (rows) => rows.length === 1,
  );
  assert.deepEqual(await eventually(listComplete, ({ length }) => length > 0), [backup!.id]);
  assert.equal(await readMetric(), Number(backup!.startedAtNs / 1_000_000n) / 1000);
  assert.equal((await readdir(join(place, OBJECTS, "org_backup"))).length, 1);
});

test("while a job waits, runs or is to be tried again, the queue takes no other one", async (t) => {
  const { deps } = await start(t);
  await enqueue(deps);
  await enqueue(deps);
  const [{ count }] = await deps.db.prisma.$queryRaw<[{ count: bigint }]>`
    SELECT count(*) FROM pgboss.job WHERE name = 'back-up'`;
  assert.equal(count, 1n);
});

test("nothing is done while another backup of the deployment is made", async (t) => {
  const { deps, listComplete } = await start(t);
  {
    await using _held = await holdRemovals(deps.db.pool);
    await backUpBySchedule(deps, going);
    assert.deepEqual(await listComplete(), []);
  }
  await backUpBySchedule(deps, going);
  assert.equal((await listComplete()).length, 1);
});

slowTest("a backup that was cut is made again, and takes over what was copied", async (t) => {
  const { deps, place, listComplete } = await start(t);
  await assert.rejects(backUpBySchedule(deps, AbortSignal.abort(new Error("this process stops"))), /stops/);
  await backUpBySchedule(deps, going);
  const [first] = await listComplete();
  await rm(join(place, first!, "backup.json"));
  const copying = { ...deps.blobs, open: () => assert.fail("it is copied already") };
  await backUpBySchedule({ ...deps, blobs: copying }, going);
  assert.equal((await listComplete()).length, 1);
});

slowTest("older backups are forgotten by the operator's numbers", async (t) => {
  const { clock, deps, listComplete } = await start(t, { keepDaily: "2" });
  for (let day = 0; day < 3; day += 1) {
    await backUpBySchedule(deps, going);
    clock.aheadNs += DAY_NS;
  }
  assert.equal((await listComplete()).length, 2);
});

test("a place that cannot be written fails the job, so that it is tried again", async (t) => {
  const { deps, place } = await start(t);
  await rm(place, { recursive: true });
  await writeFile(place, "no folder");
  await assert.rejects(backUpBySchedule(deps, going), { code: "EEXIST" });
});

test("without a schedule none is kept, also where there was one before", async (t) => {
  const { deps } = await start(t, { works: true });
  const { jobs } = deps;
  await jobs.startWorking({} as never, 1, { "back-up": undefined });
  const rows = await deps.db.prisma.$queryRaw<unknown[]>`SELECT FROM pgboss.schedule WHERE name = 'back-up'`;
  assert.equal(rows.length, 0);
});

test("a schedule that is none, or that has no place, is refused at the start with what it may be", () => {
  const read = (schedule: string, to = "/mnt/backups") =>
    readConfig({ DOWNLINK_BACKUP_SCHEDULE: schedule, DOWNLINK_BACKUP_TO: to });
  for (const text of ["daily", "@daily", "0 30 2 * * *", "30 2 * *", "61 2 * * *", "30 2 31 2 *", "30 2 * * mo"])
    assert.throws(
      () => read(text),
      /DOWNLINK_BACKUP_SCHEDULE: must be five fields of cron such as 30 2 \* \* \*/,
      text,
    );
  assert.equal(read(" */15 0-6 * * mon-fri ").backups.schedule, "*/15 0-6 * * mon-fri");
  assert.throws(
    () => read(NIGHTLY, ""),
    /DOWNLINK_BACKUP_TO: is missing; DOWNLINK_BACKUP_SCHEDULE makes backups there/,
  );
  assert.equal(read("", "").backups.schedule, undefined);
});

test("devices wait for the first backup where there is a schedule, unless the operator says otherwise", () => {
  const read = (schedule: string, safety: string) =>
    readConfig({
      DOWNLINK_BACKUP_SCHEDULE: schedule,
      DOWNLINK_BACKUP_TO: "/mnt/backups",
      DOWNLINK_DELETE_SAFETY: safety,
    }).deleteSafety;
  assert.deepEqual([read("", ""), read(NIGHTLY, ""), read(NIGHTLY, "0")], ["backupIfAny", "backup", 0]);
});

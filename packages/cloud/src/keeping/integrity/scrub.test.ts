import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { newPoolReader } from "../../db/read-sql.ts";
import { LAST_WHOLE_READ } from "../../db/stored-data.ts";
import { withTransaction } from "../../db/transaction.ts";
import { readStored } from "../../imports/ingest/read-stored.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { overwriteObject } from "../../testing/stored-objects.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { type ScrubDeps, scrubStore } from "./scrub.ts";

const DAY = 86_400_000_000_000n;
const OBJECTS = 12;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock, environment: { DOWNLINK_SCRUB_DAYS: "30" } });
const { deps } = cloud;
const { prisma } = deps.db;
const { signal } = new AbortController();

const bytes = await Promise.all(
  Array.from({ length: OBJECTS }, (_, seed) => makeMcap({ seed, startNs: BigInt(seed) * 10n ** 12n })),
);
const ids: string[] = [];
for (const [at, one] of bytes.entries()) {
  const { recordingId } = await uploadFile(cloud, one, { filename: `${at}.mcap`, deviceName: "robot" });
  ids.push(recordingId!);
}
const rowOf = (id: string) => prisma.recording.findUniqueOrThrow({ where: { id } });
const sizes = bytes.map(({ length }) => length);
const total = sizes.reduce((sum, size) => sum + size);

/** Returns what a turn read, in its order. */
async function scrub(options: Partial<ScrubDeps> = {}): Promise<string[]> {
  const read: string[] = [];
  const readAndNote: ScrubDeps["readStored"] = async (reading) => {
    read.push(reading.recordingId);
    return readStored(deps, reading);
  };
  await scrubStore({ ...deps, readStored: readAndNote, ...options }, signal);
  return read;
}

test("the whole store is read once in the chosen time, the oldest reading first, at an even rate", async () => {
  assert.deepEqual(await scrub(), [], "nothing is due at the first turn");
  const days: string[][] = [];
  for (let day = 0; day < 30; day += 1) {
    clock.aheadNs += DAY + 1_000_000n;
    days.push(await scrub());
    assert.deepEqual(await scrub(), [], "no more is due at once");
  }
  const read = days.flat();
  const [lastWhole] = await newPoolReader(deps.db)<{ seconds: number }>(LAST_WHOLE_READ);
  assert.ok(lastWhole!.seconds * 1e9 >= Number(clock.nowNs() - 30n * DAY), "all of it was read in these thirty days");
  assert.deepEqual(read.slice(0, OBJECTS), ids);
  assert.ok(read.length <= OBJECTS + 1, `${read.length} of ${OBJECTS} were read`);
  const largest = Math.max(...sizes);
  for (const [day, some] of days.entries()) {
    const readBytes = days
      .slice(0, day + 1)
      .flat()
      .reduce((sum, id) => sum + sizes[ids.indexOf(id)]!, 0);
    assert.ok(readBytes <= (total * (day + 1)) / 30 + largest, `day ${day} read ${some.length}`);
  }
});

test("a worker that was away makes up for one day, and bytes that were read too early are taken from later turns", async () => {
  clock.aheadNs += 300n * DAY;
  assert.ok((await scrub()).length <= 2);
  await prisma.deployment.update({ where: { id: 1 }, data: { scrubDueBytes: -total } });
  clock.aheadNs += 40n * DAY;
  assert.deepEqual(await scrub(), [], "what was read beyond what was due is taken from later turns");
});

const due = (bytes: bigint) =>
  prisma.deployment.update({ where: { id: 1 }, data: { scrubDueBytes: bytes, scrubbedAtNs: clock.nowNs() } });

test("an altered object is found by it, and its recording is marked", async () => {
  const [id] = (await prisma.recording.findMany({ orderBy: [{ verifiedAtNs: "asc" }, { id: "asc" }] })).map(
    (row) => row.id,
  );
  const changed = Buffer.from(bytes[ids.indexOf(id!)]!);
  changed[changed.length >> 1]! ^= 1;
  await overwriteObject(cloud.dataDir, (await rowOf(id!)).blobKey!, changed);
  await due(1n);
  assert.deepEqual(await scrub(), [id]);
  const { storedDamage, damagedSinceNs } = await rowOf(id!);
  assert.equal(storedDamage, "altered");
  assert.notEqual(damagedSinceNs, null);
  await due(BigInt(total));
  assert.ok(!(await scrub()).includes(id!), "what is known to be damaged is not read again and again");
});

test("an object that cannot be read holds up no other, and ten in a row end the turn", async () => {
  clock.aheadNs += 2n * DAY;
  const tried: string[] = [];
  const failFor =
    (fails: (id: string) => boolean): ScrubDeps["readStored"] =>
    async ({ recordingId }) => {
      tried.push(recordingId);
      if (fails(recordingId)) throw new Error("the bucket does not answer");
    };
  await due(BigInt(total));
  await scrub({ readStored: failFor((id) => id === tried[0]) });
  assert.equal(new Set(tried).size, 2, "another one was read in its place");
  tried.length = 0;
  await due(BigInt(total));
  await assert.rejects(scrub({ readStored: failFor(() => true) }), /the bucket does not answer/);
  assert.equal(tried.length, 10);
});

test("nothing is read where the operator chose so", async () => {
  await due(BigInt(total));
  assert.deepEqual(await scrub({ scrubDays: 0 }), []);
});

test("a worker does it", async () => {
  clock.aheadNs += 2n * DAY;
  await due(1n);
  const startedNs = clock.nowNs();
  await withTransaction(deps.db, (tx) => deps.jobs.enqueue(tx, { name: "scrub", data: {} }));
  const where = { verifiedAtNs: { gte: startedNs } };
  await eventually(
    () => prisma.recording.count({ where }),
    (count) => count === 1,
  );
});

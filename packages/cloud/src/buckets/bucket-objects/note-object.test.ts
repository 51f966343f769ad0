import assert from "node:assert/strict";
import { after, test } from "node:test";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { noteObjects, type OwnerHints } from "./note-object.ts";
import { storeBucketSite } from "./testing/store-bucket-site.ts";

const cloud = await startCloud({ after }, { works: false });
const { db } = cloud.deps;

async function openSite() {
  const { id: siteId, orgId } = await storeBucketSite(cloud, {});
  const note = (name: string, hints?: OwnerHints) =>
    withTransaction(db, (tx) => noteObjects(contextOf(tx, cloud.deps), { orgId, siteId }, [{ name, hints }]));
  const rows = () => db.prisma.bucketObject.findMany({ where: { siteId }, orderBy: { id: "asc" } });
  const jobs = async () => {
    const { rows: found } = await db.pool.query(
      "SELECT id FROM pgboss.job WHERE name = 'look-at-object' AND data ->> 'siteId' = $1",
      [siteId],
    );
    return found.length;
  };
  return { note, rows, jobs };
}

test("any number of notes of an object before somebody looks, also at the same moment, are one row and one job", async () => {
  const { note, rows, jobs } = await openSite();
  await Promise.all(Array.from({ length: 10 }, () => note("a/b.mcap")));
  await note("a/b.mcap");
  const all = await rows();
  assert.deepEqual(
    all.map(({ name, state, isDue }) => [name, state, isDue]),
    [["a/b.mcap", "noted", true]],
  );
  assert.equal(await jobs(), 1);
  await db.prisma.bucketObject.updateMany({ where: { id: all[0]!.id }, data: { isDue: false } }); // a job began to look
  await Promise.all([note("a/b.mcap"), note("a/b.mcap")]);
  assert.equal((await rows()).length, 1);
  assert.equal(await jobs(), 2);
});

test("what a note says of the owner stays until another one says something else", async () => {
  const { note, rows } = await openSite();
  await note("x", { deviceName: "r1", projectId: "prj_1" });
  await note("x");
  await note("x", { projectId: "prj_2" });
  const [{ deviceId, deviceName, projectId } = {} as never] = await rows();
  assert.deepEqual([deviceId, deviceName, projectId], [null, "r1", "prj_2"]);
});

test("a name that came after the object of that name was gone is another object", async () => {
  const { note, rows, jobs } = await openSite();
  await note("x");
  await db.prisma.bucketObject.updateMany({ where: { name: "x", goneAtNs: null }, data: { goneAtNs: 1n } });
  await note("x");
  assert.deepEqual(
    (await rows()).map(({ goneAtNs }) => goneAtNs),
    [1n, null],
  );
  assert.equal(await jobs(), 2);
});

test("odd names are kept as they are, and those that no object can have are left alone", async () => {
  const { note, rows } = await openSite();
  const odd = ["a+b %2F/../ü\u{1F916}\n.mcap", "/", "\u{FFFF}".repeat(341), " "];
  for (const name of odd) await note(name);
  for (const name of ["", "a\0b", "\ud800", "x".repeat(1025), "\u{1F916}".repeat(257)]) await note(name);
  assert.deepEqual(
    (await rows()).map(({ name }) => name),
    odd,
  );
});

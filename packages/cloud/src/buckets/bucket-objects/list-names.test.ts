import assert from "node:assert/strict";
import { after, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { readUsage } from "../../calls/quotas/require-room.ts";
import { setQuotas } from "../../calls/quotas/set-quotas.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { openStubSite, refuse } from "./testing/open-stub-site.ts";
import { anObject } from "./testing/stub-bucket.ts";
import { queueVisits, visitBucket } from "./visit-bucket.ts";

const cloud = await startCloud({ after }, { works: false });
const { db } = cloud.deps;
const { signal } = new AbortController();

test("a listing looks at what is new, changed or gone, once, and at nothing else; names are in the order of their bytes", async () => {
  const { stub, scan, shown } = await openStubSite(cloud, 2);
  const names = ["a", "b/c", "z", "\u{FFFF}", "\u{1F916}", "ü+%2F \n"];
  for (const name of names) stub.objects.set(name, anObject());
  assert.equal(await scan(), undefined);
  assert.deepEqual([...stub.looks].sort(), [...names].sort());
  assert.deepEqual(
    (await shown()).map(([name]) => name),
    ["a", "b/c", "z", "ü+%2F \n", "\u{FFFF}", "\u{1F916}"],
  );
  stub.looks.length = 0;
  await scan();
  assert.deepEqual(stub.looks, []);
  stub.objects.delete("a");
  stub.objects.delete("\u{1F916}");
  stub.objects.set("z", anObject());
  stub.objects.set("y", anObject());
  await scan();
  assert.deepEqual([...stub.looks].sort(), ["a", "y", "z", "\u{1F916}"]);
  assert.deepEqual(
    (await shown()).filter(([, state]) => state === "gone").map(([name]) => name),
    ["a", "z", "\u{1F916}"],
  );
});

slowTest("a bucket that lists its names in another order hides none of them, also after an interruption", async () => {
  const { stub, scan, shown } = await openStubSite(cloud, 2);
  stub.order = (one, other) => Buffer.compare(other, one);
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names) stub.objects.set(name, anObject());
  let isBroken = false;
  stub.fail = (verb, name) => {
    if (verb !== "list" || name !== "a" || isBroken) return;
    isBroken = true;
    throw new Error("the connection broke");
  };
  await scan().catch(() => {});
  assert.ok(isBroken);
  assert.equal(await scan(), undefined);
  assert.deepEqual(
    (await shown()).map(([name]) => name),
    names,
  );
  stub.looks.length = 0;
  stub.objects.delete("c");
  await scan();
  assert.deepEqual(
    (await shown()).filter(([, state]) => state === "gone").map(([name]) => name),
    ["c"],
  );
});

slowTest(
  "a policy decides by its first rule that fits; of what the former one ignored, another one is applied to what it wants",
  async () => {
    const { stub, scan, shown, requests, save } = await openStubSite(cloud);
    for (const name of ["tmp/x.mcap", "robots/r1/a.mcap", "robots/bad name/b.mcap", "else", "robots/"])
      stub.objects.set(name, anObject(name.endsWith("/") ? { sizeBytes: 0n } : {}));
    await save([
      { pattern: "tmp/**", action: { type: "ignore" } },
      { pattern: "robots/r*/**", action: { type: "import", nameTemplate: "robot-{1}" } },
    ]);
    await scan();
    assert.deepEqual(await shown(), [
      ["else", "ignored"],
      ["robots/", "ignored"],
      ["robots/bad name/b.mcap", "ignored"],
      ["robots/r1/a.mcap", "requested"],
      ["tmp/x.mcap", "ignored"],
    ]);
    assert.deepEqual(
      (await requests()).map(({ filename, deviceName, source }) => [filename, deviceName, source]),
      [["robots/r1/a.mcap", "robot-1", "bucket"]],
    );
    await save([{ pattern: "else", action: { type: "import", nameTemplate: "constant" } }]);
    stub.looks.length = 0;
    await scan();
    await scan();
    assert.deepEqual(stub.looks, ["else"], "what both policies ignore needs no look");
    assert.deepEqual(
      (await requests()).map(({ filename, deviceName }) => [filename, deviceName]),
      [
        ["robots/r1/a.mcap", "robot-1"],
        ["else", "constant"],
      ],
    );
  },
);

test("of looks at the same moment the one that began last counts, whatever the others come back with", async () => {
  const { stub, look, shown, requests } = await openStubSite(cloud);
  stub.objects.set("a", anObject());
  await Promise.all(Array.from({ length: 8 }, () => look("a")));
  assert.deepEqual(await shown(), [["a", "requested"]]);
  assert.equal((await requests()).length, 1);
  stub.fail = async () => {
    stub.fail = () => {};
    stub.objects.delete("a");
    await look("a"); // it begins later and ends earlier
  };
  await look("a");
  assert.deepEqual(await shown(), [["a", "gone"]]);
});

test("an object that goes and comes back is the same one; other bytes under the name are another", async () => {
  const { stub, look, rows, requests } = await openStubSite(cloud);
  const [first, second] = [anObject(), anObject()];
  const stateOf = async () => (await rows()).map(({ etag, goneAtNs }) => [etag, goneAtNs !== null]);
  for (const [object, expected] of [
    [first, [[first.etag, false]]],
    [undefined, [[first.etag, true]]],
    [first, [[first.etag, false]]],
    [
      second,
      [
        [first.etag, true],
        [second.etag, false],
      ],
    ],
    [
      first,
      [
        [first.etag, false],
        [second.etag, true],
      ],
    ],
  ] as const) {
    if (object) stub.objects.set("a", object);
    else stub.objects.delete("a");
    await look("a");
    assert.deepEqual(await stateOf(), expected);
  }
  assert.deepEqual(
    (await requests()).map(({ state }) => state),
    ["received", "error"],
  );
});

async function queuedVisits(siteId: string): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM pgboss.job WHERE name = 'list-bucket' AND data ->> 'siteId' = $1`;
  return (await db.pool.query(text, [siteId])).rows[0].n;
}

slowTest("the first listing waits for a policy, but not longer than the time between listings", async () => {
  const { stub, siteId, deps, save, shown } = await openStubSite(cloud);
  stub.objects.set("a", anObject());
  const hourly = { ...deps, listBucketsSeconds: 3600 };
  const visit = async (by = hourly) => {
    assert.equal(await visitBucket(by, siteId, { signal }), undefined);
    return shown();
  };
  assert.deepEqual(await visit(), []);
  await queueVisits(hourly);
  assert.equal(await queuedVisits(siteId), 0);
  const aged = { createdAtNs: deps.clock.nowNs() - 3_601_000_000_000n };
  await save([{ pattern: "b", action: { type: "import" } }]);
  assert.deepEqual(await visit({ ...deps, listBucketsSeconds: 0 }), []);
  await queueVisits(hourly);
  assert.equal(await queuedVisits(siteId), 1);
  assert.deepEqual(await visit(), [["a", "ignored"]]);

  const without = await openStubSite(cloud);
  without.stub.objects.set("a", anObject());
  await db.prisma.site.update({ where: { id: without.siteId }, data: aged });
  await visitBucket({ ...without.deps, listBucketsSeconds: 3600 }, without.siteId, { signal });
  assert.deepEqual(await without.shown(), [["a", "requested"]]);
});

test("a bucket that answers again is visited for what was due, and a visit that nothing is due for is not queued", async () => {
  const { stub, siteId, deps, orgId } = await openStubSite(cloud);
  await db.prisma.siteBucket.update({ where: { siteId }, data: { listedAtNs: deps.clock.nowNs() } });
  await queueVisits(deps);
  assert.equal(await queuedVisits(siteId), 0);
  const noted = { id: "obj_due", orgId, siteId, name: "a", state: "noted", createdAtNs: 0n, updatedAtNs: 0n } as const;
  await db.prisma.bucketObject.create({ data: noted });
  await queueVisits(deps);
  assert.equal(await queuedVisits(siteId), 1);
  stub.fail = refuse;
  assert.match((await visitBucket(deps, siteId, { signal }))!, /403/);
  stub.fail = () => {};
  stub.objects.set("a", anObject());
  assert.equal(await visitBucket(deps, siteId, { signal }), undefined);
  assert.deepEqual(stub.looks, ["a"]);
  assert.equal((await db.prisma.siteBucket.findUniqueOrThrow({ where: { siteId } })).problem, null);
});

slowTest(
  "objects beyond the number of recordings that an organization may have wait until a listing finds room",
  async () => {
    const { prisma } = cloud.deps.db;
    const site = await openStubSite(cloud);
    for (const name of ["a", "b", "c", "d", "e"]) site.stub.objects.set(name, anObject());
    const allow = (maxRecordings: number | null) =>
      setQuotas(cloud.deps, site.orgId, { maxStoredBytes: 0n, maxRecordings, maxExports: null });
    const others = Number((await readUsage(prisma, site.orgId)).recordings) + (await countWaiting());
    await allow(others + 2);
    await site.scan();
    assert.equal((await site.requests()).length, 2);
    await site.scan();
    assert.equal((await site.requests()).length, 2);
    await allow(others + 4);
    await site.scan();
    assert.equal((await site.requests()).length, 4);
    await allow(null);
    await site.scan();
    const states = (await site.rows()).map(({ state }) => state);
    assert.deepEqual(new Set(states), new Set(["requested"]));
    assert.equal((await site.requests()).length, 5);
  },
);

const countWaiting = () => cloud.deps.db.prisma.importRequest.count({ where: { source: "bucket", state: "received" } });

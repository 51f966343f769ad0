import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startCloud } from "../../testing/start-cloud.ts";
import { openStubSite, refuse } from "./testing/open-stub-site.ts";
import { anObject } from "./testing/stub-bucket.ts";

const cloud = await startCloud({ after }, { works: false });
const { db } = cloud.deps;

test("100,000 objects are listed once by pages; a listing that breaks off goes on behind the last page", async () => {
  const { stub, scan, siteId, save } = await openStubSite(cloud);
  await save([{ pattern: "**", action: { type: "ignore" } }]);
  for (let at = 0; at < 100_000; at++) stub.objects.set(`robots/${at}.mcap`, anObject());
  let pages = 0;
  const listed: string[] = [];
  stub.fail = (verb, name) => {
    if (verb !== "list") return;
    listed.push(name);
    if (++pages === 60) refuse();
  };
  assert.match((await scan())!, /403/);
  const { listedUntil, problem } = await db.prisma.siteBucket.findUniqueOrThrow({ where: { siteId } });
  assert.match(problem!, /403/);
  const [before] = await db.prisma.$queryRaw<[{ n: bigint }]>`
    SELECT count(*) AS n FROM "BucketObject" WHERE "siteId" = ${siteId} AND name <= ${listedUntil}`;
  assert.equal(before.n, 59_000n);
  assert.equal(await scan(), undefined);
  assert.equal(listed.length, 101);
  assert.equal(new Set(listed).size, 100, "only the page that was not dealt with is listed again");
  assert.deepEqual(stub.looks, [], "what the policy ignores needs no look");
  assert.equal(await db.prisma.bucketObject.count({ where: { siteId, state: "ignored", goneAtNs: null } }), 100_000);
  stub.objects.clear();
  stub.looks.length = 0;
  stub.fail = (verb) => {
    if (verb === "find") refuse();
  };
  assert.match((await scan())!, /403/, "who refuses to look says nothing of what is gone");
  assert.equal(await db.prisma.bucketObject.count({ where: { siteId, goneAtNs: { not: null } } }), 0);
});

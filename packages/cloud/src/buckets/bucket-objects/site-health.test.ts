import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type IngestPathRule, MAX_TRIED_NAMES } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { BucketUnavailableError } from "../../store/blobs/buckets/bucket-unavailable.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { checkBucket } from "./check-bucket.ts";
import { judgeBy } from "./judge-name.ts";
import { findSiteWithPolicy } from "./site-with-policy.ts";
import { openStubSite, refuse } from "./testing/open-stub-site.ts";
import { storeBucketSite } from "./testing/store-bucket-site.ts";
import { anObject } from "./testing/stub-bucket.ts";
import { tryPolicy } from "./try-policy.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const siteOf = async (siteId: string) => (await findSiteWithPolicy(cloud.deps.db, siteId))!;
const healthOf = async (id: string) => (await admin.call(api.sites.get, { id })).health!;

slowTest(
  "a site says whether its bucket could be read at the last visit, why not and since when, and is well by itself",
  async () => {
    const { siteId, stub, scan } = await openStubSite(cloud);
    assert.deepEqual(await healthOf(siteId), { state: "unknown" });
    await scan();
    const well = await healthOf(siteId);
    assert.deepEqual([well.state, well.problem], ["readable", undefined]);
    assert.ok(well.lastListedAt! > 0n);
    stub.fail = refuse;
    await scan();
    const ill = await healthOf(siteId);
    assert.deepEqual([ill.state, ill.problem], ["unreadable", "the bucket refuses it (403)"]);
    assert.ok(ill.problemSince! > 0n);
    const [listed] = (await admin.call(api.sites.list, {})).filter(({ id }) => id === siteId);
    assert.deepEqual(listed!.health, ill);
    const metrics = await (await fetch(`${cloud.url}/metrics`)).text();
    assert.match(metrics, /^downlink_customer_buckets\{state="unreadable"\} 1$/m);
    stub.fail = () => {};
    await scan();
    assert.equal((await healthOf(siteId)).state, "readable");
  },
);

test("a policy is tried on the first names of the bucket: which rule meets which, what it becomes, and that nothing is stored", async () => {
  const { siteId, stub, deps, rows } = await openStubSite(cloud);
  for (const name of ["robots/r1/a.mcap", "robots/r 2/b.mcap", "tmp/c.mcap", "zz.mcap"])
    stub.objects.set(name, anObject());
  const rules: IngestPathRule[] = [
    { pattern: "tmp/**", action: { type: "ignore" } },
    { pattern: "robots/*/**", action: { type: "import", nameTemplate: "{1}" } },
  ];
  const { objects, isComplete } = await tryPolicy(deps, await siteOf(siteId), { rules });
  assert.equal(isComplete, true);
  const problem = '"r 2" is no name of a device, so that the import would fail';
  assert.deepEqual(objects, [
    { name: "robots/r 2/b.mcap", rule: 1, type: "import", deviceName: "r 2", problem },
    { name: "robots/r1/a.mcap", rule: 1, type: "import", deviceName: "r1", problem: undefined },
    { name: "tmp/c.mcap", rule: 0, type: "ignore", deviceName: undefined, problem: undefined },
    { name: "zz.mcap", rule: undefined, type: "ignore", deviceName: undefined, problem: undefined },
  ]);
  const saved = await tryPolicy(deps, await siteOf(siteId), undefined);
  assert.ok(saved.objects.every(({ type, rule }) => type === "import" && rule === undefined));
  assert.deepEqual(await rows(), []);
});

test("no more names are tried than the limit, and the answer says that there are more", async () => {
  const { siteId, stub, deps } = await openStubSite(cloud);
  for (let n = 0; n < MAX_TRIED_NAMES; n++) stub.objects.set(`${n}`, anObject());
  const tryAll = async () => tryPolicy(deps, await siteOf(siteId), undefined);
  assert.deepEqual([(await tryAll()).objects.length, (await tryAll()).isComplete], [MAX_TRIED_NAMES, true]);
  stub.objects.set("one more", anObject());
  assert.deepEqual([(await tryAll()).objects.length, (await tryAll()).isComplete], [MAX_TRIED_NAMES, false]);
});

slowTest(
  "over HTTP, a bucket that cannot be reached is 503, a wrong rule 400, and a site without a bucket 404",
  async () => {
    const { id } = await storeBucketSite(cloud, { endpoint: "http://127.0.0.1:9", region: "us-east-1" });
    await assert.rejects(admin.call(api.ingestPathPolicies.tryOut, { id }), { status: 503, code: "Unavailable" });
    const rules = [{ pattern: "[", action: { type: "ignore" as const } }];
    await assert.rejects(admin.call(api.ingestPathPolicies.tryOut, { id, rules }), refusedWith(400));
    const { id: edge } = await admin.call(api.sites.create, { name: "edge", type: "edge" });
    await assert.rejects(admin.call(api.ingestPathPolicies.tryOut, { id: edge }), refusedWith(404));
  },
);

test("a check tries to list, to look and to read, and names the permission that is missing", async () => {
  const { siteId, stub, deps } = await openStubSite(cloud);
  const check = async () => checkBucket(deps, await siteOf(siteId));
  assert.deepEqual(await check(), [{ access: "lists", problem: undefined }]);
  stub.objects.set("a folder/", anObject({ sizeBytes: 0n }));
  stub.objects.set("a.mcap", anObject({ versionId: "v1" }));
  stub.read = async () => new Uint8Array(1);
  assert.deepEqual(await check(), [
    { access: "lists", problem: undefined },
    { access: "reads versions", problem: undefined },
  ]);
  const forbidden = "the bucket refuses GetObject (403 AccessDenied): it needs s3:GetObject";
  stub.read = () => Promise.reject(new BucketUnavailableError(forbidden, undefined));
  assert.deepEqual((await check())[1], { access: "reads versions", problem: `${forbidden}Version` });
  stub.objects.set("a.mcap", anObject());
  assert.deepEqual((await check())[1], { access: "reads", problem: forbidden });
  stub.fail = refuse;
  assert.deepEqual(await check(), [{ access: "lists", problem: "the bucket refuses it (403)" }]);
});

test("a judgement names its rule", () => {
  const judge = judgeBy({ rules: [{ pattern: "a*", action: { type: "ignore" } }] });
  assert.deepEqual([judge("ab").rule, judge("b").rule], [0, undefined]);
});

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { judgeListed } from "./judge-listed.ts";
import {
  randomHex,
  readFindings,
  sayHello,
  siteHello,
  startAgain,
  startTestSite,
  type TestSite,
} from "./testing/test-site.ts";

const SECOND = 1_000_000_000n;
const DAY = 24n * 3600n * SECOND;
const clock = createStoppedClock(BigInt(Date.now()) * 1_000_000n);
const cloud = await startCloud({ after }, { clock, works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const robot = await admin.call(api.devices.create, { name: "robot" });
let site = await startTestSite(cloud, "plant");
const { siteId } = site;
let minute = 0n;

/** Brings a file to its end at the site, or leaves it there unread. */
async function importFile({ isRead = true, key = undefined as string | undefined } = {}) {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 0.2 });
  const file = { filename: "a.mcap", deviceId: robot.id, siteId, key };
  const { requestId } = await admin.call(api.uploads.create, file);
  const object = { key: await site.storeFile(requestId, bytes), size: bytes.byteLength };
  if (!isRead) return { requestId, object, recordingId: "" };
  for (const call of await readFindings(deps, { requestId, attempt: 1, bytes }))
    await site.call(api.site.findings, call);
  const { recordingId } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  return { requestId, object, recordingId: recordingId! };
}

/** Another process begins over the site's folder. */
async function restart(store?: Awaited<ReturnType<typeof startAgain>>): Promise<TestSite> {
  const { lease } = site.hello;
  site = await sayHello(cloud, site, siteHello({ lease, store: store ?? (await startAgain(deps, siteId)) }));
  await site.report({ savedKeyIds: site.hello.keys.map(({ id }) => id) });
  return site;
}

const work = () => site.call(api.site.work, {});

/** The site says that it has these objects, and its relisting is judged. */
async function relist(present: { key: string; size: number }[]) {
  const { relistId } = await work();
  const { strangeKeys } = await site.report({ present, relistedId: relistId! });
  await judgeListed(deps, siteId, new AbortController().signal);
  return strangeKeys;
}

async function allObjects() {
  const rows = await prisma.siteObject.findMany({ where: { siteId } });
  return rows.map(({ key, sizeBytes }) => ({ key, size: Number(sizeBytes) }));
}

const statusOf = async (keyOrId: string) => {
  const { importStatus, failure } = await admin.call(api.recordings.get, { keyOrId });
  return [importStatus, failure?.code];
};

function without(all: { key: string; size: number }[], { key }: { key: string }) {
  return all.filter((one) => one.key !== key);
}

test("a recording without its object is unavailable with the reason, and comes back with the object", async () => {
  const [kept, lost] = [await importFile(), await importFile()];
  await restart();
  assert.deepEqual(await relist(without(await allObjects(), lost.object)), []);
  assert.deepEqual(await statusOf(lost.recordingId), ["failed", "ObjectMissing"]);
  assert.deepEqual(await statusOf(kept.recordingId), ["complete", undefined]);
  const { damageSeenAtNs } = await prisma.deployment.findFirstOrThrow();
  assert.equal(damageSeenAtNs, null, "a site casts no doubt on the store of the control plane");
  const listedTopics = () =>
    prisma.recordingTopic.count({ where: { recordingId: lost.recordingId, importedProjectId: { not: null } } });
  assert.equal(await listedTopics(), 0);
  await assert.rejects(
    admin.call(api.exports.create, { recordingId: lost.recordingId }),
    refusedWith("NoStreamableRecordings"),
  );
  await restart();
  await relist(await allObjects());
  assert.deepEqual(await statusOf(lost.recordingId), ["complete", undefined]);
  assert.equal(await listedTopics(), 4);
  assert.ok((await admin.call(api.exports.create, { recordingId: lost.recordingId })).link);
});

test("an object of another size is not the one that was imported", async () => {
  const { object, recordingId } = await importFile();
  await restart();
  const others = without(await allObjects(), object);
  await relist([...others, { ...object, size: object.size - 1 }]);
  assert.deepEqual(await statusOf(recordingId), ["failed", "ObjectMissing"]);
  await restart();
  await relist(await allObjects());
});

test("an import whose file is gone fails with the reason, and goes on once it is back", async () => {
  const { requestId, object } = await importFile({ isRead: false });
  await restart();
  await relist(without(await allObjects(), object));
  const stateOf = async () => {
    const { state, errorCode } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
    return [state, errorCode];
  };
  assert.deepEqual(await stateOf(), ["error", "ObjectMissing"]);
  assert.deepEqual((await work()).imports, []);
  await restart();
  await relist(await allObjects());
  assert.deepEqual(await stateOf(), ["received", null]);
  assert.deepEqual(
    (await work()).imports.map((wanted) => wanted.requestId),
    [requestId],
  );
  await site.report({ failed: [{ requestId, attempt: 1, code: "BadChunk", text: "over" }] });
});

test("nothing is removed at the site before its relisting was judged, and nothing that nobody knows is named at all", async () => {
  const { object, recordingId } = await importFile();
  const strange = { key: `${site.hello.orgId}/upl_${"0".repeat(26)}`, size: 7 };
  await restart();
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  assert.deepEqual((await work()).removals, []);
  const { relistId } = await work();
  await site.report({ present: await allObjects(), relistedId: relistId! });
  assert.deepEqual((await work()).removals, [], "said, and not judged");
  assert.deepEqual(await relist([strange]), [strange.key]);
  assert.deepEqual(
    (await work()).removals.map(({ key }) => key),
    [object.key],
  );
  await site.report({ removed: [object.key] });
});

test("what comes while the site is relisted is there", async () => {
  await restart();
  const before = await allObjects();
  const { recordingId } = await importFile();
  await relist(before);
  assert.deepEqual(await statusOf(recordingId), ["complete", undefined]);
});

test("a relisting that another process takes over is judged by what that one says", async () => {
  const { object, recordingId } = await importFile();
  await restart();
  const { relistId } = await work();
  await site.report({ present: without(await allObjects(), object), relistedId: relistId! });
  await restart();
  await judgeListed(deps, siteId, new AbortController().signal);
  assert.deepEqual(await statusOf(recordingId), ["complete", undefined]);
  await site.report({ present: without(await allObjects(), object), relistedId: relistId! });
  await judgeListed(deps, siteId, new AbortController().signal);
  assert.deepEqual(await statusOf(recordingId), ["complete", undefined], "the former one's end counts for nothing");
  await relist(await allObjects());
  assert.deepEqual(await statusOf(recordingId), ["complete", undefined]);
});

test("a lost recording whose key another one got stays as it is", async () => {
  const lost = await importFile({ key: "lap-1" });
  await restart();
  await relist(without(await allObjects(), lost.object));
  const other = await importFile({ key: "lap-1" });
  await restart();
  await relist(await allObjects());
  assert.deepEqual(await statusOf(lost.recordingId), ["failed", "ObjectMissing"]);
  assert.deepEqual(await statusOf(other.recordingId), ["complete", undefined]);
});

test("a store without the last start's mark was set back, as was a control plane that knows an older lease", async () => {
  const isRelisted = async (more: Parameters<typeof siteHello>[0]) => {
    site = await sayHello(cloud, site, siteHello({ lease: site.hello.lease, ...more }));
    const { relistId } = await work();
    if (relistId !== null) await relist(await allObjects());
    return relistId !== null;
  };
  const instanceId = randomHex();
  const store = await startAgain(deps, siteId);
  assert.ok(await isRelisted({ instanceId, store }), "another process");
  assert.ok(!(await isRelisted({ instanceId, store })), "the same one");
  assert.ok(await isRelisted({ instanceId, store: { ...store, starts: store.starts - 1 } }), "fewer starts");
  assert.ok(await isRelisted({ instanceId, store: { ...store, starts: 99, marks: [randomHex()] } }), "another past");
  const known = await startAgain(deps, siteId);
  assert.ok(!(await isRelisted({ instanceId, store: known })), "the mark is known, whatever came after it");
  assert.ok(
    await isRelisted({ instanceId, store: known, lease: site.hello.lease + 7 }),
    "a lease that was never given",
  );
});

test("a store that takes the place of a lost one is taken where the operator says so, and its recordings say what they lack", async () => {
  const { recordingId } = await importFile();
  const { store } = siteHello();
  await assert.rejects(restart(store), ({ message }: ApiCallError) => message.includes("--accept-store"));
  await restart({ ...store, isAccepted: true });
  await relist([]);
  assert.deepEqual(await statusOf(recordingId), ["failed", "ObjectMissing"]);
});

test("a site is relisted once a day", async () => {
  assert.equal((await work()).relistId, null);
  clock.atNs += DAY;
  assert.notEqual((await work()).relistId, null);
  await relist(await allObjects());
  assert.equal((await work()).relistId, null);
});

test("of the objects that a site names, those of another one are strange, and stay as they are", async () => {
  const other = await startTestSite(cloud, "curious");
  const { object, recordingId } = await importFile();
  assert.deepEqual((await other.report({ present: [object] })).strangeKeys, [object.key]);
  const { relistId } = await work();
  await other.report({ relistedId: relistId ?? "rel_other" });
  await judgeListed(deps, other.siteId, new AbortController().signal);
  assert.deepEqual(await statusOf(recordingId), ["complete", undefined]);
});

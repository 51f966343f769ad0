import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { deflateRawSync } from "node:zlib";
import { api, type CallInput, LEASE_HEADER } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { withTransaction } from "../../db/transaction.ts";
import { reconcile } from "../../imports/ingest/reconcile.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { readFindings, sayHello, siteHello, startAgain, startTestSite } from "./testing/test-site.ts";

const SECOND = 1_000_000_000n;
const DAY = 24n * 3600n * SECOND;
const clock = createStoppedClock(BigInt(Date.now()) * 1_000_000n);
const cloud = await startCloud({ after }, { clock, works: false });
const { admin, deps } = cloud;
const robot = await admin.call(api.devices.create, { name: "robot" });
const site = await startTestSite(cloud, "plant");
const { siteId } = site;
let minute = 0n;

function anotherMcap() {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 0.2 });
}

const createLink = (more: Partial<CallInput<typeof api.uploads.create>> = {}) =>
  admin.call(api.uploads.create, { filename: "a.mcap", deviceId: robot.id, siteId, ...more });
const work = (etag?: string) => site.call(api.site.work, { etag });
const removalKeys = async () => (await work()).removals.map(({ key }) => key);

/** Brings a file to its end at the site. */
async function importFile(bytes: Uint8Array, more?: Partial<CallInput<typeof api.uploads.create>>) {
  const { requestId } = await createLink(more);
  const key = await site.storeFile(requestId, bytes);
  const { attempt } = (await work()).imports.find((wanted) => wanted.requestId === requestId)!;
  const calls = await readFindings(deps, { requestId, attempt, bytes });
  for (const call of calls) await site.call(api.site.findings, call);
  const request = await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  return { requestId, key, calls, request };
}

test("an upload link leads to its site, and what the site found becomes the recording", async () => {
  const bytes = await anotherMcap();
  const { link, requestId } = await createLink();
  assert.ok(link.startsWith(`http://site.example/data-plane/uploads/${requestId}?`));
  const key = await site.storeFile(requestId, bytes);
  const { imports } = await work();
  assert.deepEqual(imports, [{ requestId, key, filename: "a.mcap", attempt: 1 }]);
  const { requests } = await site.report({ begun: [{ requestId, attempt: 1 }] });
  assert.deepEqual(requests, [{ requestId, state: "processing" }]);
  const [call] = await readFindings(deps, { requestId, attempt: 1, bytes });
  assert.deepEqual(await site.call(api.site.findings, call!), { state: "complete" });
  assert.deepEqual((await work()).imports, []);
  const [pending] = await admin.call(api.pendingImports.list, { requestId, showCompleted: true });
  const recording = await admin.call(api.recordings.get, { keyOrId: pending!.recordingId! });
  assert.deepEqual(
    [recording.importStatus, recording.site?.id, recording.size],
    ["complete", siteId, bytes.byteLength],
  );
  const topics = await admin.call(api.topics.list, { recordingId: recording.id });
  assert.equal(topics.length, 4);
  const { link: exported } = await admin.call(api.exports.create, { recordingId: recording.id });
  assert.ok(exported.startsWith("http://site.example/data-plane/exports?"));
  assert.equal(await deps.db.prisma.siteFindingsPiece.count(), 0);
});

test("repeats of every report are harmless, and a later file for the same request is removed", async () => {
  const { requestId, key, calls, request } = await importFile(await anotherMcap());
  const again = { requestId, key, size: Number(request.sizeBytes) };
  assert.deepEqual((await site.report({ stored: [again] })).requests, [{ requestId, state: "complete" }]);
  assert.deepEqual(await site.call(api.site.findings, calls[0]!), { state: "complete" });
  const late = { requestId, attempt: 1, code: "IndexingFailed", text: "late" };
  assert.deepEqual((await site.report({ failed: [late] })).requests, [{ requestId, state: "complete" }]);
  const other = await site.storeFile(requestId, await anotherMcap());
  assert.deepEqual(await removalKeys(), [other]);
  await site.report({ removed: [other, key] });
  assert.deepEqual(await removalKeys(), []);
  assert.ok(
    await deps.db.prisma.siteObject.findUnique({ where: { key } }),
    "an object that a recording names stays known",
  );
});

test("a failure quarantines the file with its reason; a retry gives it to the site again under the next attempt", async () => {
  const { requestId } = await createLink();
  const bytes = await anotherMcap();
  const key = await site.storeFile(requestId, bytes);
  await site.report({ failed: [{ requestId, attempt: 1, code: "BadChunk", text: "chunk 3 is damaged" }] });
  const [failed] = await admin.call(api.pendingImports.list, { requestId, showQuarantined: true });
  assert.deepEqual([failed!.status, failed!.errorCode, failed!.error], ["error", "BadChunk", "chunk 3 is damaged"]);
  assert.deepEqual([(await work()).imports, await removalKeys()], [[], []]);
  await admin.call(api.pendingImports.retry, { requestId });
  assert.deepEqual((await work()).imports, [{ requestId, key, filename: "a.mcap", attempt: 2 }]);
  const stale = { requestId, attempt: 1, code: "BadChunk", text: "again" };
  assert.deepEqual((await site.report({ failed: [stale] })).requests, [{ requestId, state: "received" }]);
  const [call] = await readFindings(deps, { requestId, attempt: 2, bytes });
  assert.deepEqual(await site.call(api.site.findings, call!), { state: "complete" });
});

test("the same file again joins the recording that is there, and its own object is removed", async () => {
  const bytes = await anotherMcap();
  const first = await importFile(bytes);
  const second = await importFile(bytes);
  assert.deepEqual([second.request.isExisting, second.request.recordingId], [true, first.request.recordingId]);
  assert.deepEqual(await removalKeys(), [second.key]);
  await site.report({ removed: [second.key] });
});

test("the data of a deleted recording is removed at the site, and only there", async () => {
  const { requestId, key, request } = await importFile(await anotherMcap());
  assert.deepEqual(await removalKeys(), []);
  await admin.call(api.recordings.delete, { keyOrId: request.recordingId! });
  assert.deepEqual(await removalKeys(), [key]);
  assert.deepEqual(
    await work()
      .then(({ etag }) => work(etag))
      .then(({ removals }) => removals),
    [{ requestId, key }],
  );
  await site.report({ removed: [key] });
  assert.deepEqual(await removalKeys(), []);
});

test("while the deployment recovers, nothing is removed at a site", async () => {
  const { key, request } = await importFile(await anotherMcap());
  await admin.call(api.recordings.delete, { keyOrId: request.recordingId! });
  const recover = (recoveringSinceNs: bigint | null) =>
    deps.db.prisma.deployment.update({ where: { id: 1 }, data: { recoveringSinceNs } });
  await recover(clock.atNs);
  assert.deepEqual(await removalKeys(), []);
  await recover(null);
  assert.deepEqual(await removalKeys(), [key]);
  await site.report({ removed: [key] });
});

slowTest("what is no finding of the file ends its import with a reason, and changes nothing else", async () => {
  const bomb = deflateRawSync(Buffer.alloc(300 * 1024 * 1024));
  const wrong = [Buffer.from("not packed"), deflateRawSync("{}"), deflateRawSync("[]"), bomb];
  for (const data of wrong) {
    const { requestId } = await createLink();
    await site.storeFile(requestId, new Uint8Array(1000));
    const piece = { requestId, attempt: 1, number: 1, isLast: true, data: data.toString("base64") };
    assert.deepEqual(await site.call(api.site.findings, piece), { state: "error" });
    const { errorCode } = await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
    assert.equal(errorCode, "FindingsUnreadable");
  }
  const { requestId } = await createLink();
  const bytes = await anotherMcap();
  await site.storeFile(requestId, bytes.subarray(1));
  const [call] = await readFindings(deps, { requestId, attempt: 1, bytes });
  assert.deepEqual(await site.call(api.site.findings, call!), { state: "error" }, "of another size");
});

test("a site reports only on requests that were given to it, whoever else knows their ids", async () => {
  const other = await startTestSite(cloud, "other plant");
  const foreign = await startTestSite(cloud, "foreign", await cloud.otherOrganization());
  const { requestId } = await createLink();
  const bytes = await anotherMcap();
  const key = await site.storeFile(requestId, bytes);
  for (const stranger of [other, foreign]) {
    const strange = `${stranger.hello.orgId}/${key.split("/")[1]!.slice(0, -1)}0`;
    const { requests } = await stranger.report({
      stored: [{ requestId, key: strange, size: 1 }],
      begun: [{ requestId, attempt: 1 }],
      failed: [{ requestId, attempt: 1, code: "Wrong", text: "wrong" }],
      removed: [key],
    });
    assert.deepEqual(requests, [{ requestId, state: "unknown" }]);
    const [call] = await readFindings(deps, { requestId, attempt: 1, bytes });
    assert.deepEqual(await stranger.call(api.site.findings, call!), { state: "unknown" });
    assert.deepEqual((await stranger.call(api.site.work, {})).imports, []);
  }
  await assert.rejects(
    site.report({ stored: [{ requestId, key: `${foreign.hello.orgId}/${key.split("/")[1]}`, size: 1 }] }),
    refusedWith("InvalidRequest", /organization/),
  );
  assert.equal((await work()).imports[0]!.requestId, requestId);
  await site.report({ failed: [{ requestId, attempt: 1, code: "BadChunk", text: "over" }] });
});

test("edge sites' tokens open nothing under /v1/site, and self-hosted sites' nothing under /v1/edge", async () => {
  const edge = await admin.call(api.sites.create, { name: "edge", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: edge.id });
  await assert.rejects(cloud.withToken(token!).call(api.site.hello, siteHello()), refusedWith("WrongCredentialKind"));
  await assert.rejects(cloud.withToken(site.token).call(api.edge.work, {}), refusedWith("WrongCredentialKind"));
  await assert.rejects(cloud.withToken(site.token).call(api.sites.list, {}), refusedWith("WrongCredentialKind"));
});

test("one process at a time works for a site; one that lost its lease changes nothing", async () => {
  const plant = await startTestSite(cloud, "contested");
  await assert.rejects(sayHello(cloud, plant, siteHello()), refusedWith("LeaseHeldElsewhere"));
  const store = await startAgain(deps, plant.siteId);
  const restarted = await sayHello(cloud, plant, siteHello({ lease: plant.hello.lease, store }));
  assert.ok(restarted.hello.lease > plant.hello.lease);
  await assert.rejects(plant.report({}), refusedWith("LeaseLost"));
  await assert.rejects(plant.call(api.site.work, {}), refusedWith("LeaseLost"));
  await restarted.report({});
});

slowTest(
  "a call for work whose process has gone renews its lease no more, so that the next one need not wait",
  async () => {
    const leaving = await startTestSite(cloud, "leaving");
    const { siteId, token, hello } = leaving;
    const { etag } = await leaving.call(api.site.work, {});
    const going = new AbortController();
    const url = `${cloud.url}${api.site.work.path}?wait=20&etag=${etag}`;
    const headers = { authorization: `Bearer ${token}`, [LEASE_HEADER]: String(hello.lease) };
    const { siteProcess } = deps.db.prisma;
    const where = { siteId };
    const readLease = async () => (await siteProcess.findUniqueOrThrow({ where })).leaseExpiresAtNs;
    const endLease = () => siteProcess.update({ where, data: { leaseExpiresAtNs: 0n } });
    await endLease();
    const waiting = fetch(url, { headers, signal: going.signal });
    await eventually(readLease, (untilNs) => untilNs > 0n); // it has looked once, and looks again after a second
    going.abort();
    await assert.rejects(waiting);
    await delay(500); // the server has seen that
    await endLease();
    await delay(1500);
    assert.equal(await readLease(), 0n);
  },
);

test("a process over another store is refused while the site has files in the first one", async () => {
  const plant = await startTestSite(cloud, "moved");
  const elsewhere = () => sayHello(cloud, plant, siteHello({ lease: plant.hello.lease }));
  const { requestId } = await admin.call(api.uploads.create, {
    filename: "a.mcap",
    deviceId: robot.id,
    siteId: plant.siteId,
  });
  await plant.storeFile(requestId, new Uint8Array(10));
  await assert.rejects(elsewhere(), refusedWith("Conflict", /1 files in another store/));
});

test("the project's site takes uploads that name none, and ours takes them again once that is cleared", async () => {
  const project = await admin.call(api.projects.create, { name: "by site" });
  const device = await admin.call(api.devices.create, { name: "robot-2", projectId: project.id });
  const linkOf = async () => (await admin.call(api.uploads.create, { filename: "a.mcap", deviceId: device.id })).link;
  const updated = await admin.call(api.projects.update, { id: project.id, primarySiteId: siteId });
  assert.deepEqual([updated.primarySiteId, updated.name], [siteId, "by site"]);
  assert.match(await linkOf(), /^http:\/\/site\.example\//);
  await admin.call(api.projects.update, { id: project.id, primarySiteId: null });
  assert.ok((await linkOf()).startsWith(cloud.url));
});

test("a site that takes no uploads, or is for other projects, is refused by name", async () => {
  const edge = await admin.call(api.sites.create, { name: "edge-2", type: "edge" });
  const orgId = site.hello.orgId;
  const byob = { id: "site_byob", orgId, name: "bucket", type: "byob", createdAtNs: clock.atNs } as const;
  await deps.db.prisma.site.create({ data: byob });
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const body = { name: "theirs", type: "self-hosted" as const, projectIds: [elsewhere.id] };
  const theirs = await admin.call(api.sites.create, body);
  for (const { id } of [edge, byob, theirs]) {
    await assert.rejects(createLink({ siteId: id }), refusedWith("InvalidRequest", /siteId must be a site/));
    const chosen = admin.call(api.projects.update, { id: robot.projectId, primarySiteId: id });
    await assert.rejects(chosen, refusedWith("InvalidRequest", /primarySiteId must be a site/));
  }
  await assert.rejects(createLink({ siteId: "site_unknown" }), refusedWith("NotFound"));
});

test("recordings at two sites are not exported together; the refusal names both", async () => {
  const session = await admin.call(api.sessions.create, { deviceId: robot.id, key: "both" });
  await importFile(await anotherMcap(), { sessionId: session.id });
  const plant = await startTestSite(cloud, "second plant");
  const bytes = await anotherMcap();
  const { requestId } = await createLink({ siteId: plant.siteId, sessionId: session.id });
  await plant.storeFile(requestId, bytes);
  const [call] = await readFindings(deps, { requestId, attempt: 1, bytes });
  await plant.call(api.site.findings, call!);
  const exported = admin.call(api.exports.create, { sessionId: session.id });
  await assert.rejects(exported, refusedWith("InvalidRequest", /several sites: "plant" .*, "second plant"/));
});

test("a site that has not connected, has no key or is silent gets no links, and the refusal says why", async () => {
  const created = await admin.call(api.sites.create, { name: "absent", type: "self-hosted" });
  await assert.rejects(createLink({ siteId: created.id }), refusedWith("SiteUnavailable", /never connected/));
  const { request } = await importFile(await anotherMcap());
  const exportIt = () => admin.call(api.exports.create, { recordingId: request.recordingId! });
  const shown = () => admin.call(api.recordings.get, { keyOrId: request.recordingId! });
  assert.equal((await shown()).unavailable, undefined);
  const before = clock.atNs;
  clock.atNs += 660n * SECOND;
  try {
    const { unavailable } = await shown();
    assert.match(unavailable!.reason, /nothing is heard/);
    assert.ok(unavailable!.since <= before);
    const listed = await admin.call(api.recordings.list, { siteId });
    assert.deepEqual(listed.find(({ id }) => id === request.recordingId)!.unavailable, unavailable);
    await assert.rejects(exportIt(), refusedWith("SiteUnavailable", /11 minutes/));
  } finally {
    clock.atNs = before;
  }
  await admin.call(api.sites.revokeKeys, { id: siteId });
  await assert.rejects(exportIt(), refusedWith("SiteUnavailable", /signing key/));
  const { keys } = await work();
  await site.report({ savedKeyIds: keys.map(({ id }) => id) });
  assert.ok((await exportIt()).link);
});

test("a request for a site waits however long nobody uses its link, because the site may be cut off", async () => {
  const { requestId } = await createLink();
  const before = clock.atNs;
  clock.atNs += 30n * DAY;
  try {
    await reconcile(deps);
  } finally {
    clock.atNs = before;
  }
  assert.deepEqual((await site.report({ begun: [{ requestId, attempt: 1 }] })).requests, [
    { requestId, state: "awaiting" },
  ]);
});

test("deleting a site ends its imports and leaves its recordings failed with the reason, whatever it says then", async () => {
  const plant = await startTestSite(cloud, "closing");
  const own = { siteId: plant.siteId };
  const bytes = await anotherMcap();
  const done = await createLink(own);
  await plant.storeFile(done.requestId, bytes);
  const [call] = await readFindings(deps, { requestId: done.requestId, attempt: 1, bytes });
  await plant.call(api.site.findings, call!);
  const open = await createLink(own);
  await plant.storeFile(open.requestId, bytes);
  await admin.call(api.projects.update, { id: robot.projectId, primarySiteId: plant.siteId });
  await admin.call(api.sites.delete, { id: plant.siteId });
  await assert.rejects(plant.report({}), refusedWith("Unauthenticated"));
  const rows = await deps.db.prisma.importRequest.findMany({ where: { id: { in: [done.requestId, open.requestId] } } });
  const stateOf = (id: string) => rows.find((row) => row.id === id)!;
  assert.deepEqual([stateOf(done.requestId).state, stateOf(open.requestId).errorCode], ["complete", "SiteDeleted"]);
  const { recordingId } = stateOf(done.requestId);
  const recording = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  assert.deepEqual([recording.importStatus, recording.failureCode, recording.siteId], ["failed", "SiteDeleted", null]);
  await assert.rejects(
    admin.call(api.exports.create, { recordingId: recordingId! }),
    refusedWith("NoStreamableRecordings"),
  );
  const { link } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceId: robot.id });
  assert.ok(link.startsWith(cloud.url), "the project's uploads come here again");
});

test("no key outlives a restore, because the backup does not know whether it was revoked since", async () => {
  const before = (await work()).keys.map(({ id }) => id);
  const { incarnation } = await deps.db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  await deps.db.prisma.deployment.update({ where: { id: 1 }, data: { incarnation: `${incarnation}-restored` } });
  const after = (await work()).keys.map(({ id }) => id);
  assert.equal(after.length, 1);
  assert.ok(!before.includes(after[0]!));
  await assert.rejects(createLink(), refusedWith("SiteUnavailable", /signing key/));
  await site.report({ savedKeyIds: after });
  assert.ok((await createLink()).link);
});

test("an organization that may store no more here still sends files to its own site", async () => {
  await deps.db.prisma.organization.update({ where: { id: site.hello.orgId }, data: { maxStoredBytes: 0n } });
  try {
    const here = admin.call(api.uploads.create, { filename: "a.mcap", deviceId: robot.id });
    await assert.rejects(here, refusedWith("QuotaReached"));
    assert.ok((await createLink()).link);
  } finally {
    await deps.db.prisma.organization.update({ where: { id: site.hello.orgId }, data: { maxStoredBytes: null } });
  }
});

test("two hellos of one site at the same moment leave one lease", async () => {
  const plant = await startTestSite(cloud, "twice");
  const store = await startAgain(deps, plant.siteId);
  const again = () => sayHello(cloud, plant, siteHello({ lease: plant.hello.lease, store }));
  const both = await Promise.allSettled([again(), again()]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await withTransaction(deps.db, async (tx) => {
    assert.equal(await tx.siteKey.count({ where: { siteId: plant.siteId } }), 1);
  });
});

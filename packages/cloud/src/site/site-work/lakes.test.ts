import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { lakeFileKey, topicHashOf } from "../../background/indexing/lake-key.ts";
import { setIndexing } from "../../data/lake-files/set-indexing.ts";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { readFindings, sayHello, siteHello, startAgain, startTestSite, type TestSite } from "./testing/test-site.ts";

const SECOND = 1_000_000_000n;
const HOUR = 3600n * SECOND;
const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const robot = await admin.call(api.devices.create, { name: "robot" });
const site = await startTestSite(cloud, "plant");
const { siteId } = site;
await setIndexing(deps, { name: siteId, strategy: "split-files" });
const TOPICS = ["/camera/front", "/gps", "/imu", "/log"];
let minute = 0n;

type LakeFiles = CallInput<typeof api.site.lakeFiles>;
type ListQuery = Partial<CallInput<typeof api.lakeFiles.list>>;
const list = (query: ListQuery, by = admin) => by.call(api.lakeFiles.list, { siteId, ...query });
const work = (of: TestSite = site) => of.call(api.site.work, {});
const wantedIds = async () => (await work()).lakes.map(({ importId }) => importId);

/** Brings a file to its end at the site, and answers its recording. */
async function importFile(more: Partial<CallInput<typeof api.uploads.create>> = {}, of: TestSite = site) {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 0.2 });
  const body = { filename: "a.mcap", deviceId: robot.id, siteId: of.siteId, ...more };
  const { requestId } = await admin.call(api.uploads.create, body);
  const key = await of.storeFile(requestId, bytes);
  for (const call of await readFindings(deps, { requestId, attempt: 1, bytes })) await of.call(api.site.findings, call);
  const request = await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const recording = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: request.recordingId! } });
  return { ...recording, key, importId: recording.importId!, siteObjectKey: key };
}

type Imported = Awaited<ReturnType<typeof importFile>>;

/** Returns the files that a site would report for a recording. */
async function filesOf({ id, startNs, endNs }: Imported): Promise<LakeFiles["files"]> {
  const topics = await deps.db.prisma.recordingTopic.findMany({ where: { recordingId: id } });
  return topics.map(({ topic, messageCount }) => ({
    ...{ topic, size: 1000, sha256: "a".repeat(64), messageCount: Number(messageCount), start: startNs, end: endNs },
  }));
}

const report = (importId: string, page: Partial<LakeFiles>) =>
  site.call(api.site.lakeFiles, { importId, number: 1, isLast: false, files: [], ...page });

async function makeLake(imported: Imported) {
  const files = await filesOf(imported);
  assert.deepEqual(await report(imported.importId, { files, isLast: true }), { state: "listed" });
  return TOPICS.map((topic) => ({
    path: lakeFileKey({ importId: imported.importId, topicHash: topicHashOf(topic) }),
    topics: [topic],
  })).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

test("a site that splits says so in its recordings, and others do not", async () => {
  const here = await importFile();
  const plain = await startTestSite(cloud, "plain");
  const there = await importFile({}, plain);
  assert.deepEqual((await work(plain)).lakes, []);
  const strategyOf = async ({ id }: Imported) =>
    (await admin.call(api.recordings.get, { keyOrId: id })).site!.indexingStrategy;
  assert.deepEqual([await strategyOf(here), await strategyOf(there)], ["split-files", "whole-files"]);
});

test("files are wanted of what is complete, and are listed all at once with the last page", async () => {
  const imported = await importFile();
  const { importId, key } = imported;
  const wanted = (await work()).lakes.find((lake) => lake.importId === importId);
  assert.deepEqual(wanted, { importId, key, format: "mcap" });
  const files = await filesOf(imported);
  assert.deepEqual(await report(importId, { files: files.slice(0, 1) }), { state: "reporting" });
  assert.deepEqual(await list({ recordingId: imported.id }), []);
  assert.ok((await wantedIds()).includes(importId));
  const last = { number: 2, files: files.slice(1), isLast: true };
  assert.deepEqual(await report(importId, last), { state: "listed" });
  assert.deepEqual(await report(importId, last), { state: "listed" }, "the answer was lost");
  assert.ok(!(await wantedIds()).includes(importId));
  const listed = await list({ recordingId: imported.id });
  assert.deepEqual(listed.flatMap(({ topics }) => topics).sort(), TOPICS);
  assert.deepEqual(
    listed.map(({ path }) => path),
    listed.map(({ topics: [topic] }) => lakeFileKey({ importId, topicHash: topicHashOf(topic!) })),
  );
  assert.deepEqual(
    listed.map(({ path }) => path).toSorted(),
    listed.map(({ path }) => path),
  );
});

test("a process that was killed between two pages begins again, and a page out of turn is refused", async () => {
  const imported = await importFile();
  const files = await filesOf(imported);
  await report(imported.importId, { files: [{ ...files[0]!, topic: "/former" }] });
  await assert.rejects(report(imported.importId, { number: 3 }), refusedWith("Conflict", /page 3/));
  await report(imported.importId, { files: files.slice(0, 2) });
  assert.deepEqual(await report(imported.importId, { number: 2, files: files.slice(2), isLast: true }), {
    state: "listed",
  });
  assert.equal((await list({ recordingId: imported.id })).length, 4);
});

test("files that are not what was found in the recording are refused with the topic, and wanted no more", async () => {
  for (const change of [
    (files: LakeFiles["files"]) => files.slice(1),
    (files: LakeFiles["files"]) => files.map((file) => ({ ...file, messageCount: file.messageCount + 1 })),
    (files: LakeFiles["files"]) => [...files, { ...files[0]!, topic: "/more" }],
  ]) {
    const imported = await importFile();
    const files = change(await filesOf(imported));
    const answer = await report(imported.importId, { files, isLast: true });
    assert.equal(answer.state, "refused");
    assert.match(answer.refusal!, /^topic \/\S+ has \d+ messages in the recording, and \d+ in its file$/);
    assert.deepEqual(await list({ recordingId: imported.id }), []);
    assert.ok(!(await wantedIds()).includes(imported.importId));
    assert.deepEqual((await site.report({ lakes: [imported.importId] })).unneededLakes, [imported.importId]);
  }
});

test("a site may give up on a recording, until an operator asks again", async () => {
  const { importId } = await importFile();
  await site.report({ lakesRefused: [{ importId, text: "TooMuchOverlap: too many chunks" }] });
  assert.ok(!(await wantedIds()).includes(importId));
  const { refused } = await setIndexing(deps, { name: "plant", strategy: undefined });
  assert.ok(refused.includes(`${importId}: TooMuchOverlap: too many chunks`));
  await setIndexing(deps, { name: "plant", strategy: "split-files" });
  assert.ok((await wantedIds()).includes(importId));
  await makeLake((await deps.db.prisma.recording.findUniqueOrThrow({ where: { importId } })) as Imported);
});

test("of a damaged recording no files are wanted, because its exports say what is lost", async () => {
  const { id, importId } = await importFile();
  await deps.db.prisma.recording.update({ where: { id }, data: { damage: '{"chunksLost":1}' } });
  assert.ok(!(await wantedIds()).includes(importId));
  await deps.db.prisma.recording.update({ where: { id }, data: { damage: null } });
});

test("what is deleted is listed no more at once, and its files are removed at the site, also unlisted ones", async () => {
  const listed = await importFile();
  await makeLake(listed);
  const begun = await importFile();
  await report(begun.importId, {});
  const unknown = newId("imp");
  for (const { id } of [listed, begun]) await admin.call(api.recordings.delete, { keyOrId: id });
  const { lakeRemovals } = await work();
  assert.deepEqual(lakeRemovals, [listed.importId, begun.importId].sort());
  assert.deepEqual(await report(begun.importId, { number: 2, isLast: true }), { state: "unneeded" });
  const has = [listed.importId, begun.importId, unknown];
  assert.deepEqual((await site.report({ lakes: has })).unneededLakes, has);
  await site.report({ lakesRemoved: has });
  await site.report({ lakesRemoved: has });
  assert.deepEqual((await work()).lakeRemovals, []);
  assert.equal(await deps.db.prisma.lakeFile.count({ where: { importId: { in: has } } }), 0);
});

test("while a restored control plane may lack what came after its backup, it calls nothing unneeded", async () => {
  const imported = await importFile();
  await makeLake(imported);
  await deps.db.prisma.recording.update({ where: { id: imported.id }, data: { importId: newId("imp") } });
  await deps.db.prisma.deployment.update({ where: { id: 1 }, data: { conflict: "for the test" } });
  try {
    assert.deepEqual((await work()).lakeRemovals, []);
    assert.deepEqual((await site.report({ lakes: [imported.importId] })).unneededLakes, []);
  } finally {
    await deps.db.prisma.deployment.update({ where: { id: 1 }, data: { conflict: null } });
  }
  assert.deepEqual((await work()).lakeRemovals, [imported.importId]);
  await site.report({ lakesRemoved: [imported.importId] });
});

test("a site that no longer splits removes its files, and they are listed no more", async () => {
  const imported = await importFile();
  await makeLake(imported);
  await setIndexing(deps, { name: siteId, strategy: "whole-files" });
  assert.deepEqual(await list({ recordingId: imported.id }), []);
  assert.ok((await work()).lakeRemovals.includes(imported.importId));
  await setIndexing(deps, { name: siteId, strategy: "split-files" });
  assert.ok(!(await work()).lakeRemovals.includes(imported.importId));
});

test("a query by device lists what lies in the window, by topic too, of no other device, session or site", async () => {
  const device = await admin.call(api.devices.create, { name: "second" });
  const session = await admin.call(api.sessions.create, { deviceId: device.id, key: "morning" });
  const first = await importFile({ deviceId: device.id, sessionId: session.id });
  const later = await importFile({ deviceId: device.id });
  const files = { first: await makeLake(first), later: await makeLake(later) };
  const both = [...files.first, ...files.later].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const day = { start: first.startNs - HOUR, end: first.startNs + HOUR };
  assert.deepEqual(await list({ deviceId: device.id, ...day }), both);
  assert.deepEqual(await list({ deviceName: "second", start: day.start, end: first.endNs }), files.first);
  assert.deepEqual(await list({ deviceName: "second", start: first.endNs + 1n, end: day.end }), files.later);
  assert.deepEqual(await list({ deviceId: robot.id, start: 0n, end: 24n * HOUR }), []);
  assert.deepEqual(await list({ sessionKey: "morning" }), files.first);
  const [gps] = await list({ recordingId: later.id, topic: "/gps" });
  assert.deepEqual(gps!.topics, ["/gps"]);
  assert.deepEqual(await list({ recordingId: later.id, topic: "/other" }), []);
  assert.deepEqual(await list({ recordingId: later.id, end: later.startNs - 1n }), []);
  const plain = await admin.call(api.sites.create, { name: "empty", type: "self-hosted" });
  assert.deepEqual(await list({ siteId: plain.id, recordingId: first.id }), []);
});

test("a key limited to another project and another organization list nothing of it", async () => {
  const device = await admin.call(api.devices.create, { name: "third" });
  const imported = await importFile({ deviceId: device.id });
  await makeLake(imported);
  const other = await admin.call(api.projects.create, { name: "other" });
  const query = { deviceId: device.id, start: imported.startNs, end: imported.endNs };
  const limited = cloud.withToken(await cloud.addKey(["data.stream"], [other.id]));
  await assert.rejects(list({ recordingId: imported.id }, limited), refusedWith("NotFound"));
  await assert.rejects(list(query, limited), refusedWith("NotFound"));
  const own = cloud.withToken(await cloud.addKey(["data.stream"], [imported.projectId]));
  assert.equal((await list(query, own)).length, 4);
  await assert.rejects(list(query, await cloud.otherOrganization()), refusedWith("NotFound"));
  const stranger = await startTestSite(cloud, "stranger", await cloud.otherOrganization());
  const page = { importId: imported.importId, number: 1, isLast: true, files: [] };
  assert.deepEqual(await stranger.call(api.site.lakeFiles, page), { state: "unneeded" });
  await stranger.report({
    lakesRemoved: [imported.importId],
    lakesRefused: [{ importId: imported.importId, text: "no" }],
  });
  assert.equal((await list(query)).length, 4);
});

test("a site whose store was set back makes its files again", async () => {
  const imported = await importFile();
  await makeLake(imported);
  const { leaseNumber } = await deps.db.prisma.siteProcess.findUniqueOrThrow({ where: { siteId } });
  const store = await startAgain(deps, siteId);
  const restarted = await sayHello(cloud, site, siteHello({ lease: Number(leaseNumber), store }));
  assert.equal((await list({ recordingId: imported.id })).length, 4);
  const { lease } = restarted.hello;
  const setBack = await sayHello(cloud, site, siteHello({ lease, store: { ...store, starts: store.starts - 1 } }));
  assert.deepEqual(await list({ recordingId: imported.id }), []);
  assert.ok((await work(setBack)).lakes.length > 0);
});

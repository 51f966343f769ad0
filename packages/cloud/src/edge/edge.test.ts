import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../testing/refused-with.ts";
import { startCloud } from "../testing/start-cloud.ts";
import {
  askForFile,
  brokenItem,
  helloBody,
  recordingItem,
  sayHello,
  sha256,
  startAgent,
} from "../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const recordingsOf = (deviceId: string) => admin.call(api.recordings.list, { deviceId });

test("a recording that an agent reports is listed with its span, its topics and the status none", async () => {
  const agent = await startAgent(cloud, "lister");
  const schema = Buffer.from("float64 x");
  const topic = {
    topic: "/imu",
    version: "v1",
    encoding: "cdr",
    schemaName: "Imu",
    schemaEncoding: "ros2msg",
    schemaSha256: sha256(schema),
    messageCount: 7,
  };
  const item = recordingItem({ key: "k-1", topics: [topic], metadata: [{ name: "site", metadata: { city: "Köln" } }] });

  const { unknownSchemas } = await agent.report([item]);
  assert.deepEqual(unknownSchemas, [topic.schemaSha256]);
  const again = await agent.report([item], {
    schemas: [{ sha256: topic.schemaSha256, data: schema.toString("base64") }],
  });
  assert.deepEqual(again.unknownSchemas, []);

  const [recording] = await recordingsOf(agent.deviceId);
  assert.equal(recording!.importStatus, "none");
  assert.deepEqual(
    [recording!.start, recording!.end, recording!.path, recording!.key],
    [item.start, item.end, item.path, "k-1"],
  );
  assert.deepEqual(recording!.metadata, item.metadata);
  const topics = await admin.call(api.topics.list, { recordingId: recording!.id, includeSchemas: true });
  assert.deepEqual(
    topics.map((found) => [found.topic, found.schema]),
    [["/imu", schema.toString("base64")]],
  );
});

test("repeats of a report, in any order, change nothing", async () => {
  const agent = await startAgent(cloud, "repeater");
  const items = [recordingItem(), recordingItem(), brokenItem()];
  await agent.report(items);
  const before = await recordingsOf(agent.deviceId);
  await agent.report([...items].reverse());
  await agent.report([items[0]!, items[0]!]);
  assert.deepEqual(await recordingsOf(agent.deviceId), before);
  assert.equal((await admin.call(api.edgeFiles.list, { deviceId: agent.deviceId })).length, 1);
});

test("a file that is no importable recording is listed with its reason, and becomes a recording once it is finished", async () => {
  const agent = await startAgent(cloud, "unfinished");
  const incomplete = brokenItem({
    state: "incomplete",
    reason: { code: "NoEnd", text: "it has no end" },
    salvage: { start: 1n, end: 9n },
  });
  await agent.report([incomplete]);
  const [file] = await admin.call(api.edgeFiles.list, { deviceId: agent.deviceId, state: ["incomplete"] });
  assert.deepEqual(
    [file!.path, file!.reason, file!.salvage],
    [incomplete.path, { code: "NoEnd", text: "it has no end" }, { start: 1n, end: 9n }],
  );

  await agent.report([recordingItem({ versionId: incomplete.versionId, path: incomplete.path })]);
  assert.deepEqual(await admin.call(api.edgeFiles.list, { deviceId: agent.deviceId }), []);
  assert.equal((await recordingsOf(agent.deviceId)).length, 1);
});

test("a renamed file keeps its recording, which shows the new path", async () => {
  const agent = await startAgent(cloud, "renamer");
  const item = recordingItem();
  await agent.report([item]);
  const [before] = await recordingsOf(agent.deviceId);
  await agent.report([{ ...item, path: "renamed.mcap" }]);
  const [renamed] = await recordingsOf(agent.deviceId);
  assert.deepEqual([renamed!.id, renamed!.path], [before!.id, "renamed.mcap"]);
});

test("a file that was only touched keeps its recording, with its session, and its request", async () => {
  const { agent, item, recordingId, requestId } = await askForFile(cloud, "touched");
  const { deviceId } = agent;
  const session = await admin.call(api.sessions.create, { deviceId, key: "touched", recordingIds: [recordingId] });
  await agent.report([{ ...item, modifiedAt: item.modifiedAt + 1n }]);
  const [recording, ...others] = await recordingsOf(deviceId);
  assert.deepEqual([recording!.id, recording!.importStatus, others], [recordingId, "pending", []]);
  assert.equal(recording!.sessionId, session.id);
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(
    work.imports.map(({ requestId: id, versionId, stage }) => [id, versionId, stage]),
    [[requestId, item.versionId, "deliver"]],
  );
});

test("a file that is gone takes its recording with it if nobody requested it", async () => {
  const agent = await startAgent(cloud, "remover");
  const item = recordingItem();
  await agent.report([item]);
  await agent.report([], { removals: [item.versionId] });
  await agent.report([], { removals: [item.versionId] });
  assert.deepEqual(await recordingsOf(agent.deviceId), []);
});

test("a requested file that is gone has failed with EdgeCopyGone, and cannot be requested again", async () => {
  const agent = await startAgent(cloud, "loser");
  const item = recordingItem();
  await agent.report([item]);
  const [recording] = await recordingsOf(agent.deviceId);
  const requested = await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  assert.deepEqual(requested, { id: recording!.id, importStatus: "pending" });
  await agent.report([], { removals: [item.versionId] });
  assert.equal((await recordingsOf(agent.deviceId))[0]!.importStatus, "failed");
  await assert.rejects(admin.call(api.recordings.requestImport, { keyOrId: recording!.id }), refusedWith("NotFound"));
});

test("after a complete listing absence counts; a listing with a gap changes nothing and is requested again", async () => {
  const agent = await startAgent(cloud, "relister");
  const items = [recordingItem(), recordingItem(), recordingItem()];
  await agent.report(items);
  const gap = await agent.report([items[0]!], { listing: { id: "listing-1", isLast: true, count: 2 } });
  assert.equal(gap.isListingComplete, false);
  assert.equal((await recordingsOf(agent.deviceId)).length, 3);

  await agent.report([items[0]!], { listing: { id: "listing-2", isLast: false } });
  const whole = await agent.report([items[1]!], { listing: { id: "listing-2", isLast: true, count: 2 } });
  assert.equal(whole.isListingComplete, true);
  assert.deepEqual(
    (await recordingsOf(agent.deviceId)).map(({ path }) => path).sort(),
    [items[0]!.path, items[1]!.path].sort(),
  );
});

slowTest("a swapped card with thousands of files removes them all in one report", async () => {
  const agent = await startAgent(cloud, "swapped");
  for (let batch = 0; batch < 5; batch++) await agent.report(Array.from({ length: 500 }, () => recordingItem()));
  assert.equal((await admin.call(api.recordings.list, { deviceId: agent.deviceId, offset: 2000 })).length, 500);
  const answer = await agent.report([], { listing: { id: "listing-empty", isLast: true, count: 0 } });
  assert.equal(answer.isListingComplete, true);
  assert.deepEqual(await recordingsOf(agent.deviceId), []);
});

test("an agent that lost its state is recognized by path, size, time and hash: recordings and requests stay the same", async () => {
  const agent = await startAgent(cloud, "amnesiac");
  const item = recordingItem();
  await agent.report([item]);
  const [before] = await recordingsOf(agent.deviceId);
  await admin.call(api.recordings.requestImport, { keyOrId: before!.id });
  const renamed = { ...item, versionId: randomBytes(12).toString("hex") };
  const answer = await agent.report([renamed], { listing: { id: "listing-9", isLast: true, count: 1 } });
  assert.equal(answer.isListingComplete, true);
  assert.deepEqual(
    (await recordingsOf(agent.deviceId)).map(({ id, importStatus }) => [id, importStatus]),
    [[before!.id, "pending"]],
  );
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(
    work.imports.map(({ versionId }) => versionId),
    [renamed.versionId],
  );
});

test("hello says whether the cloud knows the agent's inventory", async () => {
  const agent = await startAgent(cloud, "digester");
  assert.equal(agent.hello.isInventoryKnown, true);
  const item = recordingItem();
  await agent.report([item]);
  const inventory = { count: 1, digest: sha256(`${item.versionId} indexed\n`) };
  const hello = await agent.call(api.edge.hello, { ...helloBody({ lease: agent.hello.lease }), inventory });
  const [project] = await admin.call(api.projects.list, {});
  assert.deepEqual([hello.projectId, hello.projectName], [project!.id, project!.name]);
  assert.equal(hello.isInventoryKnown, true);
  const stale = await agent.call(api.edge.hello, {
    ...helloBody({ lease: hello.lease }),
    inventory: { ...inventory, digest: sha256("") },
  });
  assert.equal(stale.isInventoryKnown, false);
});

test("a second agent with one token is refused, and one with an old lease changes nothing", async () => {
  const agent = await startAgent(cloud, "twice");
  await assert.rejects(sayHello(cloud, agent), refusedWith("LeaseHeldElsewhere"));
  const restarted = await sayHello(cloud, { ...agent, lease: agent.hello.lease, instanceId: "a-restarted-process" });
  assert.equal(restarted.hello.lease, agent.hello.lease + 1);
  await assert.rejects(agent.report([recordingItem()]), refusedWith("LeaseLost"));
  assert.deepEqual(await recordingsOf(agent.deviceId), []);
});

test("the long poll answers at once when an import is requested or cancelled", async () => {
  const agent = await startAgent(cloud, "poller");
  await agent.report([recordingItem()]);
  const [recording] = await recordingsOf(agent.deviceId);
  const idle = await agent.call(api.edge.work, {});
  const asked = agent.call(api.edge.work, { wait: 30, etag: idle.etag });
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id, priority: 5 });
  const { etag, work } = await asked;
  assert.deepEqual(
    work.imports.map(({ stage, priority }) => [stage, priority]),
    [["deliver", 5]],
  );

  const cancelled = agent.call(api.edge.work, { wait: 30, etag });
  await admin.call(api.recordings.cancelImport, { keyOrId: recording!.id });
  assert.deepEqual((await cancelled).work.imports, []);
  assert.equal((await recordingsOf(agent.deviceId))[0]!.importStatus, "none");
});

test("a control plane that stops answers the long polls at once", async (t) => {
  const closing: (() => Promise<void>)[] = [];
  const stopping = await startCloud({ after: (close) => closing.push(close) }, { works: false });
  const agent = await startAgent(stopping, "waiter");
  const { etag } = await agent.call(api.edge.work, {});
  const poll = agent.call(api.edge.work, { wait: 30, etag });
  await eventually(
    async () => stopping.deps.polls.waiting(agent.deviceId),
    (count) => count > 0,
  );
  stopping.deps.beginStopping();
  assert.equal((await poll).etag, etag);
  t.after(async () => {
    for (const close of closing.reverse()) await close();
  });
});

test("a disabled device lists its files, but its uploads are refused", async () => {
  const agent = await startAgent(cloud, "disabled");
  const item = recordingItem();
  await agent.report([item]);
  const [recording] = await recordingsOf(agent.deviceId);
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  await admin.call(api.devices.update, { nameOrId: "disabled", enabled: false });
  const { work } = await agent.call(api.edge.work, {});
  assert.equal(work.settings.enabled, false);
  const open = {
    requestId: work.imports[0]!.requestId,
    versionId: item.versionId,
    size: item.size,
    modifiedAt: item.modifiedAt,
  };
  await assert.rejects(agent.call(api.edge.openUpload, open), refusedWith("DeviceDisabled"));
  await agent.report([recordingItem()]);
  assert.equal((await recordingsOf(agent.deviceId)).length, 2);
});

test("one agent cannot touch another's files or requests", async () => {
  const [mine, theirs] = [await startAgent(cloud, "mine"), await startAgent(cloud, "theirs-device")];
  const item = recordingItem();
  await theirs.report([item]);
  const [recording] = await recordingsOf(theirs.deviceId);
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  const { requestId } = (await theirs.call(api.edge.work, {})).work.imports[0]!;
  await mine.report([], { removals: [item.versionId], acknowledgements: [requestId] });
  await assert.rejects(
    mine.call(api.edge.failImport, { requestId, versionId: item.versionId, code: "FileGone", text: "" }),
    refusedWith("NotFound"),
  );
  assert.equal((await recordingsOf(theirs.deviceId))[0]!.importStatus, "pending");
});

test("a deleted token and a disabled one are refused with 401", async () => {
  const agent = await startAgent(cloud, "revoked");
  const [row] = await admin.call(api.deviceTokens.list, { deviceId: agent.deviceId });
  await admin.call(api.deviceTokens.update, { id: row!.id, enabled: false });
  await assert.rejects(agent.report([]), refusedWith("Unauthenticated"));
  await admin.call(api.deviceTokens.update, { id: row!.id, enabled: true });
  await agent.report([]);
  await admin.call(api.deviceTokens.delete, { id: row!.id });
  await assert.rejects(agent.report([]), refusedWith("Unauthenticated"));
});

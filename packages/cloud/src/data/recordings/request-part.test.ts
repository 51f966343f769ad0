import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, CUT_RECORD_NAME, type EdgeRecordingItem } from "@downlink/protocol";
import { withTransaction } from "../../db/transaction.ts";
import { askForCutsAgain, endCutsOf } from "../../fleet/agents/cuts.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sayHello, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const SECOND_NS = 1_000_000_000n;
const START_NS = 1000n * SECOND_NS;

const topic = (name: string, from = 0n, to = 10n) => ({
  ...{ topic: name, version: "v", encoding: "json", schemaName: "s", schemaEncoding: "", schemaSha256: "0".repeat(64) },
  ...{ messageCount: 10, start: START_NS + from * SECOND_NS, end: START_NS + to * SECOND_NS },
});

/** Reports a recording of 10 seconds with three topics, the last of which ends after 2 seconds. */
async function reportWhole(name: string, { takesCuts = true } = {}) {
  const { id: deviceId } = await admin.call(api.devices.create, { name });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const agent = await sayHello(cloud, { deviceId, token: token!, takesCuts });
  const item = recordingItem({
    topics: [topic("/imu"), topic("/camera/front"), topic("/boot", 0n, 2n), topic("/odd/[a")],
  });
  await agent.report([item]);
  const [whole] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  return { agent, item, keyOrId: whole!.id };
}

const from = (seconds: bigint) => START_NS + seconds * SECOND_NS;

async function cutsOf(agent: TestAgent) {
  return (await agent.call(api.edge.work, {})).work.cuts!;
}

/** Reports the file that the agent makes for a request. */
async function reportCut(agent: TestAgent, requestId: string, more: Partial<EdgeRecordingItem> = {}) {
  const item = recordingItem({
    path: `.downlink-cuts/${requestId}/run.mcap`,
    metadata: [{ name: CUT_RECORD_NAME, metadata: { requestId } }],
    ...more,
  });
  await agent.report([item]);
  return item;
}

test("a part is asked of the agent, becomes a recording once it is reported, and is kept until that is imported", async () => {
  const { agent, item, keyOrId } = await reportWhole("rover");
  const asked = { keyOrId, topics: ["/camera/*"], start: from(3n), end: from(5n), priority: 7 };
  const { id, importStatus, cuts } = await admin.call(api.recordings.requestImport, asked);
  assert.deepEqual([id, importStatus, cuts?.length], [keyOrId, "none", 1]);
  const [cut] = cuts!;
  const part = { topics: ["/camera/front"], start: from(3n), end: from(5n) };
  assert.deepEqual([cut!.importStatus, cut!.recordingId, cut!.waitsFor], ["pending", undefined, undefined]);
  const wanted = { requestId: cut!.id, versionId: item.versionId, ...part };
  assert.deepEqual(await cutsOf(agent), [{ ...wanted, isMade: false }]);

  const bytes = Buffer.from("a part");
  const made = await reportCut(agent, cut!.id, { size: bytes.byteLength });
  assert.deepEqual(await cutsOf(agent), [{ ...wanted, isMade: true }]);
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(
    work.imports.map(({ versionId, priority }) => [versionId, priority]),
    [[made.versionId, 7]],
  );
  const recordings = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const recording = recordings.find(({ path }) => path === made.path)!;
  assert.deepEqual(recording.cutOf, { recordingId: keyOrId, ...part });
  const listed = async (isCut: boolean) =>
    (await admin.call(api.recordings.list, { deviceId: agent.deviceId, isCut })).map(({ id }) => id);
  assert.deepEqual([await listed(true), await listed(false)], [[recording.id], [keyOrId]]);
  const whole = await admin.call(api.recordings.get, { keyOrId });
  assert.deepEqual([whole.cuts?.[0]?.recordingId, whole.cuts?.[0]?.importStatus], [recording.id, "pending"]);
  await deliver(agent, made, bytes);
  await cloud.deps.db.prisma.recording.update({ where: { id: recording.id }, data: { importStatus: "complete" } });
  assert.deepEqual(await cutsOf(agent), []);
});

test("the same part asked for twice is one; what overlaps is asked for without what is there", async () => {
  const { agent, keyOrId } = await reportWhole("twice");
  const ask = async (topics: string[] | undefined, start: bigint, end: bigint) =>
    (
      await admin.call(api.recordings.requestImport, {
        keyOrId,
        ...(topics && { topics }),
        start: from(start),
        end: from(end),
      })
    ).cuts!;
  const first = await ask(["/imu"], 3n, 5n);
  assert.deepEqual(await ask(["/imu"], 3n, 5n), first);
  assert.deepEqual(await ask(["/imu"], 4n, 5n), first);
  const wider = await ask(["/imu", "/camera/front"], 4n, 6n);
  assert.deepEqual(
    wider.map(({ topics, start, end }) => [topics, start, end]),
    [
      [["/imu"], from(3n), from(5n)],
      [["/camera/front"], from(4n), from(6n)],
      [["/imu"], from(5n) + 1n, from(6n)],
    ],
  );
  assert.equal((await cutsOf(agent)).length, 3);
  assert.ok(
    (await ask(undefined, 4n, 6n)).every(({ topics }) => !topics.includes("/boot")),
    "it is silent then",
  );
});

test("a part of an older agent waits, and says why; where the caller allows it the whole is imported", async () => {
  const { agent, keyOrId } = await reportWhole("old", { takesCuts: false });
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/imu"] });
  assert.match(cuts![0]!.waitsFor!, /0\.0\.0-test, which cannot send a part of a file/);
  const whole = await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/imu"], orWhole: true });
  assert.deepEqual([whole.importStatus, whole.cuts], ["pending", undefined]);
  assert.equal((await agent.call(api.edge.work, {})).work.imports.length, 1);
});

test("what the agent cannot cut has failed with its reason, and can be asked for again; so has a part of a file that is gone", async () => {
  const { agent, item, keyOrId } = await reportWhole("failing");
  const ask = async () => (await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/imu"] })).cuts![0]!;
  const cut = await ask();
  const why = { code: "CutNoSpace" as const, text: "the disk is full" };
  const failure = { requestId: cut.id, versionId: item.versionId, ...why };
  await agent.call(api.edge.failCut, failure);
  await assert.rejects(agent.call(api.edge.failCut, failure), refusedWith("RequestSuperseded"));
  const [failed] = (await admin.call(api.recordings.get, { keyOrId })).cuts!;
  assert.deepEqual([failed!.importStatus, failed!.failure], ["failed", why]);
  const again = await ask();
  assert.deepEqual([again.importStatus, again.id === cut.id], ["pending", false]);
  await agent.report([], { removals: [item.versionId] });
  const gone = await cloud.deps.db.prisma.cut.findUniqueOrThrow({ where: { id: again.id } });
  assert.deepEqual([gone.state, gone.reasonCode], ["failed", "FileGone"]);
  const events = await cloud.deps.db.prisma.outboxEvent.findMany({ where: { type: "recording.importFailed" } });
  assert.ok(events.some(({ payload }) => (payload as { requestId: string }).requestId === again.id));
});

test("a part for which the disk had no room is asked for again each hour, for a week; its failure is published once", async () => {
  const { agent, item, keyOrId } = await reportWhole("full");
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/imu"] });
  const { id } = cuts![0]!;
  const failing = { requestId: id, versionId: item.versionId, text: "the disk is full" };
  const fail = (code: "CutNoSpace" | "FileUnreadable") => agent.call(api.edge.failCut, { ...failing, code });
  const wantedAfter = async (hours: bigint) => {
    const aheadNs = hours * 3600n * SECOND_NS;
    await askForCutsAgain({ ...cloud.deps, clock: { nowNs: () => cloud.deps.clock.nowNs() + aheadNs } });
    return (await cutsOf(agent)).map(({ requestId }) => requestId);
  };
  const published = async () =>
    (await cloud.deps.db.prisma.outboxEvent.findMany({ where: { type: "recording.importFailed" } }))
      .map(({ payload }) => payload as { recording: { id: string }; requestId: string; code: string })
      .filter(({ requestId }) => requestId === id)
      .map(({ recording, code }) => [recording.id, code]);
  await fail("CutNoSpace");
  assert.deepEqual(await wantedAfter(0n), []);
  assert.deepEqual(await wantedAfter(24n * 7n + 1n), []);
  assert.deepEqual(await wantedAfter(2n), [id]);
  const [again] = (await admin.call(api.recordings.get, { keyOrId })).cuts!;
  assert.deepEqual(
    [again!.importStatus, again!.failure, again!.waitsFor],
    ["pending", undefined, "The device is asked again: the disk is full."],
  );
  await fail("CutNoSpace");
  assert.deepEqual(await published(), [[keyOrId, "CutNoSpace"]]);
  assert.deepEqual(await wantedAfter(2n), [id]);
  await fail("FileUnreadable");
  assert.equal((await published()).length, 2);
  assert.deepEqual(await wantedAfter(4n), [], "another failure stays");
});

test("a part that is cancelled is not wanted any more; another agent cannot end it", async () => {
  const { agent, item, keyOrId } = await reportWhole("cancelled");
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId, start: from(1n), end: from(2n) });
  const [cut] = cuts!;
  const other = await startAgent(cloud, "other");
  const failure = { requestId: cut!.id, versionId: item.versionId, code: "EmptyCut", text: "" } as const;
  await assert.rejects(other.call(api.edge.failCut, failure), refusedWith("NotFound"));
  const made = await reportCut(agent, cut!.id);
  await admin.call(api.recordingCuts.cancel, { keyOrId, cutId: cut!.id });
  assert.deepEqual(await cutsOf(agent), []);
  await agent.report([], { removals: [made.versionId] });
  const left = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  assert.deepEqual(
    left.map(({ id }) => id),
    [keyOrId],
  );
  await assert.rejects(admin.call(api.recordingCuts.cancel, { keyOrId, cutId: cut!.id }), refusedWith("NotFound"));
});

test("a part of more topics than an agent is asked for is refused; a choice among them is taken", async () => {
  const agent = await startAgent(cloud, "many");
  await agent.report([recordingItem({ topics: Array.from({ length: 1200 }, (_, at) => topic(`/topic/${at}`)) })]);
  const [{ id: keyOrId } = { id: "" }] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  await assert.rejects(admin.call(api.recordings.requestImport, { keyOrId, start: from(1n) }), refusedWith("Conflict"));
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/topic/1*"], start: from(1n) });
  assert.equal(cuts![0]!.topics.length, 311);
});

test("a topic is meant by its name, also where that is no glob", async () => {
  const { keyOrId } = await reportWhole("odd");
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/odd/[a"] });
  assert.deepEqual(cuts![0]!.topics, ["/odd/[a"]);
});

test("an estimate says the bytes of what is not asked for yet, by the sizes of the topics and the rate of the device", async () => {
  const agent = await startAgent(cloud, "estimated");
  const topics = [
    { ...topic("/imu"), bytes: 1000, start: undefined, end: undefined },
    { ...topic("/camera"), bytes: 900_000 },
    topic("/new"),
  ];
  await agent.report([recordingItem({ topics, size: 1_000_000, messageCount: 30 })]);
  const [{ id: keyOrId } = { id: "" }] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const estimate = (part: object) => admin.call(api.recordingCuts.estimate, { keyOrId, ...part });
  const two = { start: from(3n), end: from(5n) };
  const imu = await estimate({ topics: ["/imu"], ...two });
  assert.deepEqual(imu, { bytes: 200, messageCount: 2, isRough: false });
  assert.equal((await estimate({ topics: ["/imu", "/new"], ...two })).isRough, true);

  assert.deepEqual(await estimate({}), { bytes: 1_000_000, messageCount: 30, isRough: false });
  const { id: agentId } = await cloud.deps.db.prisma.agent.findUniqueOrThrow({ where: { deviceId: agent.deviceId } });
  const point = { agentId, bytesPerSecond: 45_000, problems: 0 };
  await cloud.deps.db.prisma.agentPoint.createMany({
    data: [
      { ...point, atNs: 1n },
      { ...point, atNs: 2n, bytesPerSecond: 0 },
    ],
  });
  assert.equal((await estimate({ topics: ["/camera"], ...two })).seconds, 4);
  await admin.call(api.recordings.requestImport, { keyOrId, topics: ["/camera"], ...two });
  assert.equal((await estimate({ topics: ["/camera"], ...two })).bytes, 0);
  assert.equal((await estimate({ topics: ["/camera"], start: from(3n), end: from(6n) })).bytes, 90_000);
});

test("a part that cannot be is refused with the field that is wrong", async () => {
  const { keyOrId } = await reportWhole("refused");
  const refused = async (body: object, field: RegExp) =>
    assert.rejects(admin.call(api.recordings.requestImport, { keyOrId, ...body }), (error: Error) =>
      field.test(JSON.stringify(error) + error.message),
    );
  await refused({ topics: ["/nothing"] }, /which has no \\?\\?"\/nothing/);
  await refused({ start: from(5n), end: from(4n) }, /must not be after end/);
  await refused({ start: from(20n), end: from(30n) }, /must not be after the end of the recording/);
  await refused({ topics: ["/boot"], start: from(5n) }, /must have a message between start and end/);
  await refused({ topics: ["[z-a]"] }, /topics/);
});

test("once the whole recording is imported, its parts that were not delivered are wanted no more", async () => {
  const { agent, item, keyOrId } = await reportWhole("needless");
  const ask = async (topics: string[]) =>
    (await admin.call(api.recordings.requestImport, { keyOrId, topics })).cuts!.map(({ id }) => id);
  const [made] = await ask(["/imu"]);
  const file = await reportCut(agent, made!);
  await ask(["/camera/front"]);
  assert.equal((await cutsOf(agent)).length, 2);
  const { prisma } = cloud.deps.db;
  await withTransaction(cloud.deps.db, (tx) => endCutsOf({ tx, jobs: cloud.deps.jobs, nowNs: 5n }, keyOrId));
  assert.deepEqual(await cutsOf(agent), []);
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(
    work.imports.filter(({ versionId, isOver }) => versionId === file.versionId && !isOver),
    [],
  );
  await agent.report([], { removals: [file.versionId] });
  assert.equal(await prisma.cut.count({ where: { wholeId: keyOrId } }), 0);
  assert.equal((await admin.call(api.recordings.get, { keyOrId })).path, item.path);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import type { AgentCtx } from "../../calls/context/context.ts";
import { untilLockWaits } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import {
  askForFile,
  helloBody,
  recordingItem,
  sayHello,
  sha256,
  startAgent,
  type TestAgent,
} from "../../testing/test-agent.ts";
import { hello } from "../work/hello.ts";
import { report } from "./report.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma, pool } = cloud.deps.db;
const recordingsOf = (deviceId: string) => admin.call(api.recordings.list, { deviceId });

test("a report that arrives after a later one is refused and changes nothing; a repeat of the last one is harmless", async () => {
  const agent = await startAgent(cloud, "late");
  const item = recordingItem();
  const early = { sequence: 1, upserts: [item] };
  await agent.call(api.edge.report, early);
  const later = { sequence: 2, upserts: [{ ...item, path: "renamed.mcap" }] };
  await agent.call(api.edge.report, later);
  await assert.rejects(agent.call(api.edge.report, early), refusedWith("ReportSuperseded"));
  await assert.rejects(
    agent.call(api.edge.report, { sequence: 1, upserts: [], removals: [item.versionId] }),
    /report 1 came after report 2/,
  );
  await agent.call(api.edge.report, later);
  assert.deepEqual(
    (await recordingsOf(agent.deviceId)).map(({ path }) => path),
    ["renamed.mcap"],
  );
});

test("a hello of the same process keeps the place of its reports; a restarted process starts over", async () => {
  const agent = await startAgent(cloud, "greeter");
  const instanceId = "process-number-one";
  const first = await sayHello(cloud, { ...agent, lease: agent.hello.lease, instanceId });
  await first.call(api.edge.report, { sequence: 7, upserts: [] });
  await first.call(api.edge.hello, helloBody({ instanceId }));
  await assert.rejects(first.call(api.edge.report, { sequence: 6, upserts: [] }), refusedWith("ReportSuperseded"));
  const restarted = await sayHello(cloud, { ...agent, lease: first.hello.lease });
  await restarted.call(api.edge.report, { sequence: 1, upserts: [] });
});

test("a report of files that are known already writes nothing", async () => {
  const agent = await startAgent(cloud, "unchanged");
  const items = [recordingItem(), recordingItem({ key: "k" })];
  await agent.report(items);
  const listing = { id: "listing-1", isLast: true, count: 2 };
  await agent.report(items, { listing });
  const versions = () => pool.query('SELECT xmin, "versionId" FROM "EdgeFile" ORDER BY id');
  const { rows: before } = await versions();
  await agent.report(items);
  await agent.report(items, { listing });
  assert.deepEqual((await versions()).rows, before);
});

test("topics that several files share are stored for each file, with their differences", async () => {
  const agent = await startAgent(cloud, "sharer");
  const schema = { schemaName: "Imu", schemaEncoding: "ros2msg", schemaSha256: sha256("imu") };
  const imu = { topic: "/imu", version: "v1", encoding: "cdr", ...schema, messageCount: 1, start: 1n, end: 2n };
  const odom = { ...imu, topic: "/odom", start: undefined, end: undefined };
  const topicsOfFiles = [[imu, odom], [{ ...imu, messageCount: 2, end: 3n }], [{ ...imu, schemaName: "Other" }], []];
  await agent.report(topicsOfFiles.map((topics, n) => recordingItem({ path: `${n}.mcap`, topics })));
  const recordings = await prisma.recording.findMany({
    where: { deviceId: agent.deviceId },
    orderBy: { path: "asc" },
    select: {
      topics: { orderBy: { topic: "asc" }, select: { topic: true, schemaName: true, messageCount: true, endNs: true } },
    },
  });
  const stored = recordings.map(({ topics }) => topics.map((topic) => Object.values(topic)));
  assert.deepEqual(stored, [
    [
      ["/imu", "Imu", 1n, 2n],
      ["/odom", "Imu", 1n, null],
    ],
    [["/imu", "Imu", 2n, 3n]],
    [["/imu", "Other", 1n, 2n]],
    [],
  ]);
});

test("recording.created has id, key, status, path and device; a device's recording has neither site nor edge site", async () => {
  const agent = await startAgent(cloud, "reporter");
  await agent.report([recordingItem({ key: "stated", path: "stated.mcap" })]);
  const [recording] = await recordingsOf(agent.deviceId);
  assert.deepEqual(await eventsOf(recording!.id), [
    {
      type: "recording.created",
      payload: {
        recording: {
          id: recording!.id,
          key: "stated",
          importStatus: "none",
          path: "stated.mcap",
          device: { id: agent.deviceId, name: "reporter" },
        },
      },
    },
  ]);
});

test("when a requested file is gone its request fails, takes no more bytes, and the failure is published", async () => {
  const { agent, item, recordingId, requestId, version } = await askForFile(cloud, "vanisher");
  const { uploadId } = await agent.call(api.edge.openUpload, version);
  await agent.report([], { removals: [item.versionId] });
  const request = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  assert.deepEqual([request.state, request.errorCode], ["error", "EdgeCopyGone"]);
  assert.equal((await prisma.upload.findUniqueOrThrow({ where: { id: uploadId } })).state, "abandoned");
  const [, failed] = await eventsOf(recordingId);
  assert.equal(failed!.type, "recording.importFailed");
  const { recording: recorded, ...more } = failed!.payload;
  assert.deepEqual([recorded.id, recorded.importStatus], [recordingId, "failed"]);
  assert.deepEqual(more, { requestId, code: "EdgeCopyGone", error: "the file is no longer on the device" });
});

slowTest("the end of a listing that was interrupted during its removals goes on at the repeat", async () => {
  const agent = await startAgent(cloud, "cut");
  for (let batch = 0; batch < 5; batch++) await agent.report(Array.from({ length: 500 }, () => recordingItem()));
  const listing = { id: "listing-1", isLast: true, count: 0 };
  const cut = await ctxOf(agent, async (transaction) => {
    if (transaction === 4) throw new Error("killed");
  });
  await assert.rejects(report(cut, { ...nothing, sequence: 6, listing }), /killed/);
  const stopping = { ...cut, isInterrupted: () => true };
  await assert.rejects(report(stopping, { ...nothing, sequence: 6, listing }), refusedWith("Unavailable"));
  const left = () => prisma.recording.count({ where: { deviceId: agent.deviceId } });
  assert.equal(await left(), 1500);
  const repeated = await agent.report([], { listing });
  assert.deepEqual([repeated.isListingComplete, await left()], [true, 0]);
});

test("the end of a listing does not remove files that were reported after it, however late the end arrives", async () => {
  const agent = await startAgent(cloud, "slow");
  await agent.report([recordingItem()]);
  const overtaken = await ctxOf(agent, async (transaction) => {
    if (transaction === 3)
      await agent.call(api.edge.report, { sequence: 3, upserts: [recordingItem({ path: "newer" })] });
  });
  const listing = { id: "listing-1", isLast: true, count: 0 };
  await assert.rejects(report(overtaken, { ...nothing, sequence: 2, listing }), refusedWith("ReportSuperseded"));
  const paths = (await recordingsOf(agent.deviceId)).map(({ path }) => path);
  assert.ok(paths.includes("newer"));
});

slowTest(
  "an import that is requested while an agent that lost its state lists its files is wanted under the new version id",
  async () => {
    const agent = await startAgent(cloud, "forgetful");
    for (let round = 0; round < 20; round++) {
      const item = recordingItem();
      await agent.report([item]);
      const [recording] = await recordingsOf(agent.deviceId);
      const fresh = { ...item, versionId: randomBytes(12).toString("hex") };
      await Promise.all([agent.report([fresh]), admin.call(api.recordings.requestImport, { keyOrId: recording!.id })]);
      const { work } = await agent.call(api.edge.work, {});
      assert.deepEqual(
        work.imports.map(({ versionId }) => versionId),
        [fresh.versionId],
      );
      await admin.call(api.recordings.cancelImport, { keyOrId: recording!.id });
      await agent.report([], { removals: [fresh.versionId] });
    }
  },
);

test("schemas are written in the order of their hashes, whatever the order in the report, so that reports with the same schemas never deadlock", async () => {
  const agent = await startAgent(cloud, "orderly");
  const [low, high] = [newSchema(), newSchema()].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  let transactions = 0;
  const ctx = await ctxOf(agent, async () => void transactions++);
  const other = await pool.connect();
  const write = ({ sha256: hash }: ReturnType<typeof newSchema>) =>
    other.query('INSERT INTO "SchemaText" ("orgId", sha256, data) VALUES ($1, $2, $3)', [ctx.caller.orgId, hash, ""]);
  await other.query("BEGIN");
  await write(low!);
  const reported = report(ctx, { ...nothing, sequence: 1, schemas: [high!, low!] });
  await untilLockWaits(cloud.deps.db);
  await write(high!);
  await other.query("COMMIT");
  other.release();
  await reported;
  assert.equal(transactions, 1);
});

test("an agent that reports while it says hello never blocks itself", async () => {
  const instanceId = "process-number-one";
  const { hello: first, ...started } = await startAgent(cloud, "talker");
  const agent = await sayHello(cloud, { ...started, lease: first.lease, instanceId });
  let transactions = 0;
  const ctx = await ctxOf(agent, async () => void transactions++);
  for (let sequence = 1; sequence <= 20; sequence++)
    await Promise.all([
      report(ctx, { ...nothing, sequence, upserts: [recordingItem()] }),
      hello(ctx, helloBody({ lease: agent.hello.lease, instanceId })),
    ]);
  assert.equal(transactions, 20, "one that met a deadlock was repeated");
});

test("hello compares inventories by the lines sorted as both sides sort them", async () => {
  const agent = await startAgent(cloud, "sorter");
  const ends = ["", "-", "0", "A", "_", "b", "zz"];
  const versionIds = ["-", "9", "Z", "_", "a"].flatMap((start) => ends.map((end) => `${start.repeat(16)}${end}b`));
  await agent.report(versionIds.map((versionId) => recordingItem({ versionId })));
  const lines = versionIds.map((versionId) => `${versionId} indexed\n`).sort();
  const inventory = { count: lines.length, digest: sha256(lines.join("")) };
  const hello = await agent.call(api.edge.hello, { ...helloBody({ lease: agent.hello.lease }), inventory });
  assert.equal(hello.isInventoryKnown, true);
});

const nothing = { upserts: [], removals: [], acknowledgements: [], schemas: [] };

/** Makes a context as the route makes it for a call of the agent, and calls `beforeTransaction` before each of its transactions. */
async function ctxOf(agent: TestAgent, beforeTransaction: (number: number) => Promise<void>): Promise<AgentCtx> {
  const { orgId, projectId } = await prisma.agent.findUniqueOrThrow({ where: { deviceId: agent.deviceId } });
  let count = 0;
  const $transaction = async (work: never, options: never) => {
    await beforeTransaction(++count);
    return prisma.$transaction(work, options);
  };
  const $executeRaw = prisma.$executeRaw.bind(prisma);
  return {
    ...cloud.deps,
    db: { ...cloud.deps.db, prisma: { $transaction, $executeRaw, agent: prisma.agent } as unknown as typeof prisma },
    caller: {
      kind: "agent",
      siteId: null,
      tokenId: "",
      orgId,
      projectId,
      deviceId: agent.deviceId,
      lease: BigInt(agent.hello.lease),
    },
    requestId: "",
    noteIncarnation() {},
    address: () => "127.0.0.1",
    goneSignal: () => new AbortController().signal,
    isInterrupted: () => false,
  };
}

async function eventsOf(recordingId: string) {
  const events = await prisma.outboxEvent.findMany({
    where: { payload: { path: ["recording", "id"], equals: recordingId } },
    orderBy: { id: "asc" },
    select: { type: true, payload: true },
  });
  return events as unknown as {
    type: string;
    payload: { recording: Record<string, unknown> } & Record<string, unknown>;
  }[];
}

function newSchema() {
  const data = randomBytes(20);
  return { sha256: sha256(data), data: data.toString("base64") };
}

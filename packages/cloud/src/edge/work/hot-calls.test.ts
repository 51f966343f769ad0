import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, brokenItem, recordingItem, sayHello, sha256, startAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma, pool } = cloud.deps.db;

/** Returns the smallest number of queries over several calls: work that is done once in a while falls into one of the calls. */
async function asksOf(call: () => Promise<unknown>): Promise<number> {
  const counts: number[] = [];
  for (let round = 0; round < 5; round++) {
    const counted = { asks: 0 };
    const count = () => void counted.asks++;
    pool.on("acquire", count);
    await call();
    pool.off("acquire", count);
    counts.push(counted.asks);
  }
  return Math.min(...counts);
}

test("a hello queries the database three times: for its caller, for what is known, and for the write", async () => {
  const agent = await startAgent(cloud, "greeted");
  const latest = { lease: agent.hello.lease };
  const restart = async () => {
    latest.lease = (await sayHello(cloud, { ...agent, ...latest })).hello.lease;
  };
  assert.equal(await asksOf(restart), 3);
});

test("a hello of the process that holds the lease queries the database twice: for its caller, and for all else", async () => {
  const agent = await startAgent(cloud, "greeted-again");
  await agent.report([recordingItem()]);
  const known = { ...agent, lease: agent.hello.lease, instanceId: "one-process-alone" };
  assert.equal(await asksOf(() => sayHello(cloud, known)), 2);
});

test("a report of files that are known and unchanged queries the database twice: for its caller, and for the report", async () => {
  const agent = await startAgent(cloud, "unchanged");
  const topic = { topic: "/imu", version: "v1", encoding: "cdr", schemaName: "Imu", schemaEncoding: "ros2msg" };
  const topics = [{ ...topic, schemaSha256: sha256("imu"), messageCount: 1 }];
  const items = [recordingItem(), recordingItem({ topics, wantsImport: true }), brokenItem()];
  await agent.report(items);
  assert.equal(await asksOf(() => agent.report(items)), 2);
  assert.deepEqual((await agent.report(items)).unknownSchemas, [sha256("imu")]);
});

test("a call for work without work queries the database twice: for its caller and for the work", async () => {
  const agent = await startAgent(cloud, "resting");
  assert.equal(await asksOf(() => agent.call(api.edge.work, {})), 2);
});

test("work that was wanted of an agent and is not any more leaves it at rest, and the settings as they are", async () => {
  const { agent, requestId } = await askForFile(cloud, "wanted");
  await prisma.importRequest.update({ where: { id: requestId }, data: { state: "cancelled" } });
  await prisma.device.update({ where: { id: agent.deviceId }, data: { retainRecordingsSeconds: 99 } });
  const { etag, work } = await agent.call(api.edge.work, {}); // the agent sees it by its absence, and notes it
  const again = await agent.call(api.edge.work, {});
  assert.deepEqual([again.etag, again.work], [etag, work]);
  assert.deepEqual([work.imports, work.settings.retainRecordingsSeconds], [[], 99]);
});

test("a report that is stored between two statements of a hello is not overlooked", async (t) => {
  const agent = await startAgent(cloud, "between");
  const { query } = pool;
  const reported = { isDue: true };
  t.mock.method(pool, "query", async function (this: typeof pool, ...given: unknown[]) {
    const [{ text }] = given as [{ text?: string }];
    if (text?.includes('INSERT INTO "Agent"') && reported.isDue) {
      reported.isDue = false;
      await agent.report([recordingItem()]);
    }
    return (query as (...args: unknown[]) => unknown).apply(this, given);
  });
  const next = await sayHello(cloud, { ...agent, lease: agent.hello.lease, instanceId: "the-process-after-it" });
  assert.equal(reported.isDue, false);
  assert.equal(next.hello.lease, agent.hello.lease + 1);
  assert.equal(next.hello.isInventoryKnown, false, "it said that it has nothing, and by then something was known");
});

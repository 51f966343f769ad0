import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma, pool } = cloud.deps.db;
const { polls } = cloud.deps;

test("polls that began together do not end together", async (t) => {
  const agents = await Promise.all(Array.from({ length: 20 }, (_, n) => startAgent(cloud, `together-${n}`)));
  const { mock: holding } = t.mock.method(polls, "hold");
  const answered = agents.map(async ({ call }) => {
    const { etag } = await call(api.edge.work, {});
    return call(api.edge.work, { wait: 50, etag });
  });
  await eventually(
    async () => agents.filter(({ deviceId }) => polls.waiting(deviceId) === 1).length,
    (waiting) => waiting === agents.length,
  );
  const ends = holding.calls.map(({ arguments: [poll] }) => poll.endsAtMs);
  assert.ok(Math.max(...ends) - Math.min(...ends) > 2000, `they are to end at ${ends.join(", ")} ms`);
  polls.answerAll();
  await Promise.all(answered);
});

test("work that no signal announced is read again once the known work is old", async () => {
  const agent = await startAgent(cloud, "unsignalled");
  const { etag } = await agent.call(api.edge.work, {});
  const answered = agent.call(api.edge.work, { wait: 55, etag });
  await eventually(
    async () => polls.waiting(agent.deviceId),
    (waiting) => waiting === 1,
  );
  await pool.query(`ALTER TABLE "Device" DISABLE TRIGGER "Device_tells_of_settings"`);
  await prisma.device.update({ where: { id: agent.deviceId }, data: { retainRecordingsSeconds: 77 } });
  await pool.query(`ALTER TABLE "Device" ENABLE TRIGGER "Device_tells_of_settings"`);
  polls.onMissedSignals();
  assert.equal((await answered).work.settings.retainRecordingsSeconds, 77);
});

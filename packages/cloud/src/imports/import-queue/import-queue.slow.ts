import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type QueuedImport } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";

const WAITING = 100_000;
const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const names = ["a", "b", "c"];
for (const name of names) await startAgent(cloud, name);
const agents = await prisma.agent.findMany({ include: { device: true } });
const site = await prisma.site.findFirstOrThrow({ where: { type: "service-hosted" } });

/** One device has nine tenths of all requests, and two have the rest; there are five priorities, and many requests of one moment. */
await prisma.$executeRaw`
  INSERT INTO "ImportRequest" (id, "orgId", "projectId", "siteId", source, state, "pipelineStage", "deviceId", "deviceName",
    filename, "agentId", priority, "createdAtNs", "updatedAtNs")
  SELECT 'req_' || lpad(i::text, 7, '0'), ${agents[0]!.orgId}, ${agents[0]!.projectId}, ${site.id}, 'edge',
    CASE WHEN i % 7 = 0 THEN 'complete' ELSE 'awaiting' END, '', a."deviceId", 'x', i::text, a.id, (i * 31) % 5 - 2, i / 3, i
  FROM generate_series(1, ${WAITING}) i
  JOIN (SELECT id, "deviceId", row_number() OVER (ORDER BY id) - 1 AS n FROM "Agent") a
    ON a.n = CASE WHEN i % 20 = 0 THEN 1 WHEN i % 20 = 1 THEN 2 ELSE 0 END`;
await prisma.$executeRaw`ANALYZE "ImportRequest"`;

const rows = await prisma.importRequest.findMany({
  where: { state: "awaiting" },
  select: { id: true, agentId: true, deviceId: true, priority: true, createdAtNs: true },
});
/** The whole queue in order; each request's place among those of its agent is counted one by one. */
const places = new Map<string | null, number>();
const expected = rows
  .toSorted((a, b) => b.priority - a.priority || Number(a.createdAtNs - b.createdAtNs) || (a.id < b.id ? -1 : 1))
  .map(({ id, agentId, deviceId }) => {
    places.set(agentId, (places.get(agentId) ?? 0) + 1);
    return { id, deviceId, position: places.get(agentId) };
  });

async function timed(what: string, query: CallInput<typeof api.importQueue.list>): Promise<QueuedImport[]> {
  await admin.call(api.importQueue.list, query);
  const startedMs = performance.now();
  const queue = await admin.call(api.importQueue.list, query);
  process.stdout.write(`${what}: ${(performance.now() - startedMs).toFixed(0)} ms\n`);
  return queue;
}

const shown = (queue: readonly QueuedImport[]) =>
  queue.map(({ requestId: id, device, position }) => ({ id, deviceId: device!.id, position }));

test("pages of a queue of 100,000, for all devices and for one, are in order, and each request shows its place", async () => {
  for (const [limit, offset] of [
    [50, 0],
    [2000, 0],
    [50, 80_000],
  ] as const)
    assert.deepEqual(
      shown(await timed(`${limit} from ${offset}`, { limit, offset })),
      expected.slice(offset, offset + limit),
    );
  for (const { deviceId } of agents) {
    const ofDevice = expected.filter((entry) => entry.deviceId === deviceId);
    const queue = await timed(`50 of the ${ofDevice.length} of one device`, {
      deviceId: deviceId!,
      limit: 50,
      offset: 500,
    });
    assert.deepEqual(shown(queue), ofDevice.slice(500, 550));
  }
});

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type ImportStatus } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";

const RECORDINGS = 100_000;
const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const agent = await startAgent(cloud, "hoarder");
const row = await prisma.agent.findFirstOrThrow({ where: { deviceId: agent.deviceId } });

/** Recordings at the edge, one each second, in status none; every tenth has the path `a`. */
await prisma.$executeRaw`
  INSERT INTO "Recording" (id, "orgId", "projectId", "deviceId", path, "sizeBytes", "startNs", "endNs", "durationNs", format,
    "messageCount", metadata, "createdAtNs", "importStatus", "isEdge")
  SELECT 'rec_' || lpad(i::text, 7, '0'), ${row.orgId}, ${row.projectId}, ${agent.deviceId},
    CASE WHEN i % 10 = 0 THEN 'a' ELSE 'b' END, 1, i::bigint * 1000000000, i::bigint * 1000000000, 0, 'mcap', 1, '[]', i, 'none', TRUE
  FROM generate_series(1, ${RECORDINGS}) i`;
await prisma.$executeRaw`
  INSERT INTO "EdgeFile" (id, "orgId", "projectId", "agentId", "deviceId", "versionId", path, "sizeBytes", "modifiedAtNs",
    "headTailSha256", state, "reportedAtNs", "firstReportedAtNs", "recordingId")
  SELECT 'ef_' || id, "orgId", "projectId", ${row.id}, "deviceId", left(md5(id), 24), path, 1, 1, '', 'indexed', 1, 1, id FROM "Recording"`;
await prisma.$executeRaw`ANALYZE "Recording", "EdgeFile"`;

const all = { deviceId: agent.deviceId };
const timed = async <T>(what: string, call: Promise<T>): Promise<T> => {
  const startedMs = performance.now();
  const answer = await call;
  process.stdout.write(`${what}: ${(performance.now() - startedMs).toFixed(0)} ms\n`);
  return answer;
};
const countOf = (importStatus: ImportStatus) => prisma.recording.count({ where: { importStatus } });

test("a filter that matches more than 10,000 is refused with the count, and nothing is changed", async () => {
  const refused = admin.call(api.importRequests.create, { filter: all });
  await assert.rejects(timed("the refusal of 100,000", refused), refusedWith(400, `${RECORDINGS}`));
  assert.equal(await countOf("none"), RECORDINGS);
});

test("a filter that matches 10,000 of 100,000 queues, reorders and cancels them, each in one call", async () => {
  const filter = { ...all, path: "a" };
  const call = admin.call(api.importRequests.create, { filter });
  assert.deepEqual(await timed("10,000 queued", call), { queued: 10_000, already: 0, refused: [] });
  assert.equal(await countOf("pending"), 10_000);
  assert.equal(await prisma.importRequest.count({ where: { state: "awaiting" } }), 10_000);
  const again = await timed("10,000 repeated", admin.call(api.importRequests.create, { filter }));
  assert.deepEqual(again, { queued: 0, already: 10_000, refused: [] });
  const reordered = admin.call(api.importRequests.update, { filter, priority: 3 });
  assert.equal((await timed("10,000 reordered", reordered)).changed, 10_000);
  assert.equal((await agent.call(api.edge.work, { maxRequests: 10_000 })).work.imports.at(-1)!.priority, 3);
  assert.equal((await timed("10,000 cancelled", admin.call(api.importRequests.cancel, { filter }))).cancelled, 10_000);
  assert.deepEqual([await countOf("none"), await countOf("pending")], [RECORDINGS, 0]);
  assert.equal(await prisma.importRequest.count({ where: { state: "awaiting" } }), 0);
});

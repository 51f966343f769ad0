import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, MAX_SUMMARIZED, type Operation, type Output } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";

const RECORDINGS = 120_000;
const CHUNK = 20_000;
const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const busy = await admin.call(api.devices.create, { name: "busy" });
const quiet = await admin.call(api.devices.create, { name: "quiet" });

/** There is one recording each minute; every twentieth is of the quiet device, and every seventh is at the edge. */
for (let at = 0; at < RECORDINGS; at += CHUNK)
  await prisma.$executeRaw`
  INSERT INTO "Recording" (id, "orgId", "projectId", "deviceId", path, "sizeBytes", "startNs", "endNs", "durationNs", format,
    "messageCount", metadata, "createdAtNs", "importStatus", "isEdge")
  SELECT 'rec_' || lpad(i::text, 7, '0'), ${busy.orgId}, ${busy.projectId},
    CASE WHEN i % 20 = 0 THEN ${quiet.id} ELSE ${busy.id} END, i::text, 10, i * 60000000000::bigint,
    i * 60000000000::bigint + 1000000000, 1000000000, 'mcap', 1, '[]', i,
    CASE WHEN i % 7 = 0 THEN 'none' ELSE 'complete' END, TRUE
  FROM generate_series(${at + 1}::int, ${at + CHUNK}::int) i`;
await prisma.$executeRaw`VACUUM ANALYZE "Recording"`;

async function timed<O extends Operation>(what: string, operation: O, input: CallInput<O>): Promise<Output<O>> {
  await admin.call(operation, input);
  const startedMs = performance.now();
  const answer = await admin.call(operation, input);
  process.stdout.write(`${what}: ${(performance.now() - startedMs).toFixed(0)} ms\n`);
  return answer;
}

test("a summary adds up 100,000 recordings and no more, and says so", async () => {
  const all = await timed("the summary of 120,000", api.recordings.summarize, {});
  assert.deepEqual([all.isCapped, all.count], [true, MAX_SUMMARIZED + 1]);
  const ofQuiet = await timed("the summary of 6,000", api.recordings.summarize, { deviceId: quiet.id });
  assert.deepEqual([ofQuiet.isCapped, ofQuiet.count, ofQuiet.bytes, ofQuiet.seconds], [false, 6000, 60_000, 6000]);
});

test("the span of 120,000 recordings leaves out a hundredth at either end", async () => {
  const minute = 60_000_000_000n;
  const { usual, all } = await timed("the span of 120,000", api.coverage.span, { includeEdgeRecordings: true });
  assert.deepEqual(all, { start: minute, end: BigInt(RECORDINGS) * minute + 1_000_000_000n });
  assert.deepEqual(usual, { start: 1201n * minute, end: (BigInt(RECORDINGS) - 1200n) * minute + 1_000_000_000n });
  const window = { start: 2n * minute + 5_000_000_000n, end: 3n * minute - 1n, deviceId: quiet.id };
  const { next, previous } = await timed("the span of one device", api.coverage.span, window);
  assert.deepEqual([previous, next], [undefined, 20n * minute]);
});

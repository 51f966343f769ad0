import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";
import { CardModel } from "../testing/card-model.ts";
import { FlakyDevice, type Step, type Weather } from "../testing/flaky-device.ts";

const cloud = await startCloud({ after }, { works: false });
const { pool } = cloud.deps.db;

const happening = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant("add" as const) },
    { weight: 4, arbitrary: fc.constantFrom("addIncomplete", "finish", "rename", "replace", "remove", "request") },
    { weight: 2, arbitrary: fc.constantFrom("loseState", "swapCard", "restart") },
  ),
  pick: fc.nat(9),
}) as fc.Arbitrary<Step["happening"]>;
const seldom = fc.nat(3).map((number) => number === 0);
const weather: fc.Arbitrary<Weather> = fc.record({
  isHeldUp: seldom,
  isAnswerLost: seldom,
  isDoubled: seldom,
  lateBy: fc.nat(2),
});
const life: fc.Arbitrary<Step[]> = fc.array(fc.record({ happening, weather }), { maxLength: 3 });

test("however reports are repeated, lost, held up and mixed, the cloud ends with the files of the devices, and has published each once", async () => {
  const devices = [
    new FlakyDevice(cloud, await startAgent(cloud, "one")),
    new FlakyDevice(cloud, await startAgent(cloud, "other")),
  ];
  let run = 0;
  await fc.assert(
    fc.asyncProperty(life, life, async (...lives) => {
      run += 1;
      const cards = devices.map((_, n) => new CardModel(`${run}-${n}`));
      await Promise.all(devices.map((device, n) => device.live(cards[n]!, lives[n]!)));
      for (const [n, { deviceId }] of devices.entries()) await assertKnown(deviceId, cards[n]!);
    }),
    { numRuns: 200 },
  );
});

async function assertKnown(deviceId: string, card: CardModel): Promise<void> {
  const keys = `${card.prefix}-%`;
  assert.deepEqual(await readFiles(deviceId), card.files, "edge files");
  assert.deepEqual(await readRecordings(keys), card.recordings, "recordings");
  const shown = await readEvents(keys);
  assert.deepEqual(shown.created, card.created, "events of creation");
  assert.deepEqual(shown.deleted, card.deleted, "events of deletion");
}

/** The files are sorted like the model's. */
async function readFiles(deviceId: string): Promise<unknown[]> {
  return rows(
    `SELECT f."versionId", f.path, f.state, r.key FROM "EdgeFile" f LEFT JOIN "Recording" r ON r.id = f."recordingId"
     WHERE f."deviceId" = $1 ORDER BY f."versionId"`,
    deviceId,
  );
}

async function readRecordings(keys: string): Promise<unknown[]> {
  return rows(
    `SELECT r.key, r.path, r."importStatus", r."failureCode",
       (SELECT count(*)::int FROM "RecordingTopic" t WHERE t."recordingId" = r.id) AS topics,
       (SELECT count(*)::int FROM "RecordingAttachment" a WHERE a."recordingId" = r.id) AS attachments,
       (SELECT json_agg(json_build_array(q.state, q."versionId")) FROM "ImportRequest" q WHERE q."recordingId" = r.id) AS requests
     FROM "Recording" r WHERE r.key LIKE $1 ORDER BY r.key COLLATE "C"`,
    keys,
  );
}

async function readEvents(keys: string): Promise<{ created: string[]; deleted: string[] }> {
  const key = "payload->'recording'->>'key'";
  const sql = `SELECT type, ${key} AS key FROM "OutboxEvent" WHERE ${key} LIKE $1 ORDER BY ${key} COLLATE "C"`;
  const events = await rows<{ type: string; key: string }>(sql, keys);
  const keysOf = (type: string) => events.filter((event) => event.type === type).map((event) => event.key);
  return { created: keysOf("recording.created"), deleted: keysOf("recording.deleted") };
}

async function rows<Row extends object>(sql: string, value: string): Promise<Row[]> {
  return (await pool.query<Row>(sql, [value])).rows;
}

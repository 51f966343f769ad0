import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap, readMessages } from "@downlink/recordings/testing";
import { reindexRecording } from "../../imports/ingest/reindex-recording.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;

test("each topic has the messages, the span and the mean rate that the file has", async () => {
  const bytes = await makeMcap({ startNs: 1_700_000_000_000_000_000n, durationSeconds: 3 });
  const { recordingId } = await uploadFile(cloud, bytes, { filename: "a.mcap", key: "drive", deviceName: "robot" });
  const byTopic = Map.groupBy(readMessages(bytes), ({ topic }) => topic);
  const expected = [...byTopic]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([topic, messages]) => {
      const times = messages.map(({ logTimeNs }) => logTimeNs).sort((a, b) => Number(a - b));
      const [start, end] = [times[0]!, times.at(-1)!];
      const meanHz = end > start ? (times.length - 1) / (Number(end - start) / 1e9) : undefined;
      return { topic, messageCount: times.length, start, end, meanHz: meanHz?.toFixed(6) };
    });
  const listed = await admin.call(api.recordings.topics, { keyOrId: recordingId! });
  assert.deepEqual(
    listed.map(({ topic, messageCount, start, end, meanHz }) => {
      return { topic, messageCount, start, end, meanHz: meanHz?.toFixed(6) };
    }),
    expected,
  );
  assert.ok(listed.every(({ schemaName, encoding, version }) => schemaName && encoding && version));
  assert.deepEqual(
    await admin.call(api.recordings.topics, { keyOrId: "drive", limit: 1, offset: 1 }),
    listed.slice(1, 2),
  );
});

test("each topic shows its longest gap and when it was active; older imports show it once they are indexed again", async () => {
  const startNs = 1_700_000_000_000_000_000n;
  const secondsAt = (logTimeNs: bigint) => Number(logTimeNs - startNs) / 1e9;
  const bytes = await makeMcap({ startNs, durationSeconds: 3 });
  const { recordingId } = await uploadFile(cloud, bytes, { filename: "b.mcap", deviceName: "robot-2" });
  const list = () => admin.call(api.recordings.topics, { keyOrId: recordingId! });
  const byTopic = Map.groupBy(readMessages(bytes), ({ topic }) => topic);
  const listed = await list();
  for (const { topic, maxGapNs, activity } of listed) {
    const times = byTopic.get(topic)!.map(({ logTimeNs }) => logTimeNs);
    const gaps = times.slice(1).map((ns, at) => secondsAt(ns) - secondsAt(times[at]!));
    if (gaps.length > 0) assert.equal((maxGapNs! / 1e9).toFixed(6), Math.max(...gaps).toFixed(6), topic);
    else assert.equal(maxGapNs, null);
    const parts = Buffer.from(activity!, "base64");
    assert.equal(parts.byteLength, 256);
    assert.ok(parts.includes(255));
  }
  const { prisma } = cloud.deps.db;
  await prisma.recordingTopicActivity.deleteMany({ where: { recordingId: recordingId! } });
  assert.ok((await list()).every(({ maxGapNs, activity }) => maxGapNs === null && activity === null));
  const { signal } = new AbortController();
  await reindexRecording(cloud.deps, { recordingId: recordingId!, isForced: true, signal });
  assert.deepEqual(await list(), listed);
});

test("a recording at the edge has the topics that its agent reported; a topic without times has no rate", async () => {
  const agent = await startAgent(cloud, "edge");
  const fields = { encoding: "cdr", schemaName: "T", schemaEncoding: "ros2msg", schemaSha256: "0".repeat(64) };
  const { prisma } = cloud.deps.db;
  await agent.report([recordingItem()]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const row = { recordingId: recording!.id, messageEncoding: "cdr", ...fields, version: "v" };
  const { encoding: _, ...columns } = row;
  await prisma.recordingTopic.createMany({
    data: [
      { ...columns, topic: "/a", messageCount: 5n },
      { ...columns, topic: "/b", messageCount: 1n, startNs: 3n, endNs: 3n },
      { ...columns, topic: "/c", messageCount: 3n, startNs: 0n, endNs: 4_000_000_000n },
    ],
  });
  const listed = await admin.call(api.recordings.topics, { keyOrId: recording!.id });
  assert.deepEqual(
    listed.map(({ topic, messageCount, start, meanHz }) => [topic, messageCount, start, meanHz]),
    [
      ["/a", 5, undefined, undefined],
      ["/b", 1, 3n, undefined],
      ["/c", 3, 0n, 0.5],
    ],
  );
  const other = await cloud.otherOrganization();
  const refused = other.call(api.recordings.topics, { keyOrId: recording!.id });
  await assert.rejects(refused, refusedWith(404));
});

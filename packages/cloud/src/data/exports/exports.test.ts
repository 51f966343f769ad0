import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { api, type CallInput, ErrorBody } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages, readMessages, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin } = cloud;
const source = await makeMcap({ startNs: START, durationSeconds: 3 });
await uploadFile(cloud, source, { filename: "drive.mcap", key: "drive", deviceName: "robot" });

async function exported(more: Partial<CallInput<typeof api.exports.create>> = {}) {
  const { link } = await admin.call(api.exports.create, { recordingKey: "drive", ...more });
  const response = await fetch(link, { headers: { authorization: "Bearer ignored" } });
  assert.equal(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

for (const compressionFormat of ["", "lz4", "zstd"] as const)
  test(`a whole recording is exported with an index and in the order of log time, compressed with "${compressionFormat}"`, async () => {
    const bytes = await exported({ compressionFormat });
    const forward = readMessages(bytes);
    assert.equal(forward.length, readMessages(source).length);
    assert.deepEqual(await readIndexedMessages(bytes), forward);
    assert.ok(forward.every(({ logTimeNs }, index) => index === 0 || logTimeNs >= forward[index - 1]!.logTimeNs));
  });

test("topics and an inclusive time range select exactly", async () => {
  const [start, end] = [START + SECOND, START + 2n * SECOND];
  const topics = ["/imu", "/gps"];
  const wanted = readMessages(source).filter(
    ({ topic, logTimeNs }) => topics.includes(topic) && logTimeNs >= start && logTimeNs <= end,
  );
  const found = readMessages(await exported({ topics, start, end }));
  assert.deepEqual(
    found.map(({ topic, logTimeNs, data }) => [topic, logTimeNs, data]),
    wanted.map(({ topic, logTimeNs, data }) => [topic, logTimeNs, data]),
  );
  assert.ok(found.some(({ logTimeNs }) => logTimeNs === start) && found.some(({ logTimeNs }) => logTimeNs === end));
});

test("if no message of an existing recording is selected, the export is a valid empty file", async () => {
  assert.deepEqual(readMessages(await exported({ topics: ["/nothing"] })), []);
});

test("a link that names hundreds of topics works", async () => {
  const topics = ["/imu", ...Array.from({ length: 800 }, (_, index) => `/some/long/namespace/sensor_${index}/data`)];
  assert.ok(readMessages(await exported({ topics })).length > 0);
});

test("a link expires after 15 seconds: 403 with a JSON error; an altered link is refused in the same way", async () => {
  const { link } = await admin.call(api.exports.create, { recordingKey: "drive" });
  clock.aheadNs += 14_000_000_000n;
  assert.equal((await fetch(link)).status, 200);
  clock.aheadNs += 1_001_000_000n;
  const late = await fetch(link);
  assert.deepEqual([late.status, ErrorBody.parse(await late.json()).code], [403, "LinkExpired"]);
  const altered = await fetch(link.replace(/([?&]e=)\d+/, "$19999999999999"));
  assert.deepEqual([altered.status, ErrorBody.parse(await altered.json()).code], [403, "LinkRefused"]);
});

test("a recording that is not imported has nothing to stream: 404; so has one that does not exist", async () => {
  const agent = await startAgent(cloud, "edge-only");
  await agent.report([recordingItem({ key: "at-edge" })]);
  for (const [recordingKey, code] of Object.entries({ "at-edge": "NoStreamableRecordings", unknown: "NotFound" }))
    await assert.rejects(admin.call(api.exports.create, { recordingKey }), refusedWith(code));
});

slowTest("a client that goes away ends the work: the recording is closed, and most of it was not read", async (t) => {
  const topics = [{ topic: "/camera", kind: "blob" as const, rateHz: 10, sizeBytes: 500_000 }];
  // Up to 32 MB of an object in a bucket are fetched ahead: the file is three times as large.
  const large = await makeMcap({ startNs: START, durationSeconds: 20, topics, compression: "" });
  const { recordingId } = await uploadFile(cloud, large, { filename: "large.mcap", deviceName: "robot" });
  const opened = watchOpen(t);
  const { link } = await admin.call(api.exports.create, { recordingId: recordingId!, compressionFormat: "" });
  const gone = new AbortController();
  const response = await fetch(link, { signal: gone.signal });
  await response.body!.getReader().read();
  gone.abort();
  const goneMs = performance.now();
  await eventually(
    async () => opened.closedMs,
    (closedMs) => closedMs !== undefined,
  );
  t.diagnostic(`closed ${Math.round(opened.closedMs! - goneMs)} ms after the client was gone`);
  assert.ok(opened.bytesRead < large.byteLength / 2, `${opened.bytesRead} of ${large.byteLength} were read`);
  assert.ok((await exported()).length > 0, "the next client is served");
});

/** Watches the next object that is opened: how much of it is read, and when it is closed. */
function watchOpen(t: TestContext): { bytesRead: number; closedMs?: number } {
  const watched: ReturnType<typeof watchOpen> = { bytesRead: 0 };
  const { blobs } = cloud.deps;
  const open = blobs.open.bind(blobs);
  t.mock.method(
    blobs,
    "open",
    async (key: string) => {
      const source = await open(key);
      return {
        sizeBytes: source.sizeBytes,
        read(offset: number, length: number) {
          watched.bytesRead += length;
          return source.read(offset, length);
        },
        async *stream(...given: Parameters<typeof source.stream>) {
          for await (const piece of source.stream(...given)) {
            watched.bytesRead += piece.byteLength;
            yield piece;
          }
        },
        async [Symbol.asyncDispose]() {
          await source[Symbol.asyncDispose]();
          watched.closedMs = performance.now();
        },
      };
    },
    { times: 1 },
  );
  return watched;
}

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, type TopicSpec } from "@downlink/recordings/testing";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const START = 1_760_000_000_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;

/** A grey picture that becomes brighter with each message. */
const camera = (topic: string, rateHz: number): TopicSpec => ({
  ...{ topic, kind: "camera", rateHz },
  messageAt: ({ sequence }) => ({ format: "png", data: Buffer.from(greyPng(2 * sequence)).toString("base64") }),
});

function greyPng(grey: number): Uint8Array {
  const [width, height] = [320, 200];
  return encode({ width, height, channels: 1, data: new Uint8Array(width * height).fill(grey) });
}

async function upload(name: string, topics: readonly TopicSpec[]): Promise<string> {
  const bytes = await makeMcap({ startNs: START, durationSeconds: 10, topics, seed: name.length });
  const made = await uploadFile(cloud, Buffer.from(bytes), { filename: `${name}.mcap`, deviceName: name });
  return made.recordingId!;
}

const ready = (keyOrId: string) =>
  eventually(
    () => admin.call(api.thumbnails.get, { keyOrId }),
    ({ state }) => state !== "pending",
  );

async function fetchJpeg(link: string) {
  const answer = await fetch(link);
  assert.equal(answer.headers.get("content-type"), "image/jpeg");
  return jpeg.decode(Buffer.from(await answer.arrayBuffer()), { useTArray: true });
}

const front = await upload("front", [
  camera("/front", 10),
  camera("/rear", 0.5),
  { topic: "/imu", kind: "imu", rateHz: 50 },
]);

test("an imported recording has pictures of each camera, at equal distances, with the times of their messages", async () => {
  const { state, reason, topics } = await ready(front);
  assert.deepEqual([state, reason], ["ready", undefined]);
  assert.deepEqual(
    topics.map(({ topic, width, height, times }) => [topic, width, height, times.length]),
    [
      ["/front", 160, 100, 12],
      ["/rear", 160, 100, 5],
    ],
  );
  const [{ times, link }] = topics as [(typeof topics)[number]];
  const stepNs = 9_900_000_000n / 11n;
  const latest = (atNs: bigint) => START + (atNs / 100_000_000n) * 100_000_000n;
  assert.deepEqual(
    times,
    Array.from({ length: 12 }, (_, place) => latest(place === 11 ? 9_900_000_000n : BigInt(place) * stepNs)),
  );
  const strip = await fetchJpeg(link);
  assert.deepEqual([strip.width, strip.height], [12 * 160, 100]);
  for (const [place, time] of times.entries()) {
    const level = strip.data[(50 * strip.width + place * 160 + 80) * 4]!;
    const wanted = 2 * Number((time - START) / 100_000_000n);
    assert.ok(Math.abs(level - wanted) <= 3, `${level} and not ${wanted} in picture ${place}`);
  }
});

test("one picture of each recording comes for a list, for those that have one, and by the same link for an hour", async () => {
  const silent = await upload("silent", [{ topic: "/imu", kind: "imu", rateHz: 10 }]);
  assert.deepEqual(await ready(silent), { state: "none", reason: "it has no topic with pictures", topics: [] });
  const { thumbnails } = await admin.call(api.thumbnails.list, { recordingIds: [silent, front, "rec_none"] });
  assert.deepEqual(
    thumbnails.map(({ recordingId, topic, width, height }) => [recordingId, topic, width, height]),
    [[front, "/front", 160, 100]],
  );
  const single = await fetchJpeg(thumbnails[0]!.link);
  assert.deepEqual([single.width, single.height], [160, 100]);
  const again = await admin.call(api.thumbnails.list, { recordingIds: [front] });
  assert.equal(again.thumbnails[0]!.link, thumbnails[0]!.link);
});

test("pictures that cannot be read are named, and hold up nothing", async () => {
  const broken: TopicSpec = { ...camera("/broken", 2), messageAt: () => ({ format: "png", data: "AAAA" }) };
  const id = await upload("broken", [broken]);
  const { state, reason } = await ready(id);
  assert.deepEqual(
    [state, reason],
    ["none", "/broken: The pictures cannot be read: The picture is neither JPEG nor PNG."],
  );
});

test("a project that makes none has none any more, their objects go, and once it makes them again they are made when they are asked for", async () => {
  const { projectId } = await admin.call(api.recordings.get, { keyOrId: front });
  const { blobKey } = await prisma.recordingThumbnails.findUniqueOrThrow({ where: { recordingId: front } });
  const off = await admin.call(api.projects.update, { id: projectId, makesThumbnails: false });
  assert.equal(off.makesThumbnails, false);
  const none = await admin.call(api.thumbnails.get, { keyOrId: front });
  assert.deepEqual(none, { state: "none", reason: "the project makes no thumbnails", topics: [] });
  await eventually(
    () => deps.blobs.stat(blobKey!),
    (found) => found === undefined,
  );
  await admin.call(api.projects.update, { id: projectId, makesThumbnails: true });
  assert.equal((await ready(front)).state, "ready");
});

test("pictures whose object is gone, as after a restore of the database, are made again", async () => {
  const { topics } = await ready(front);
  const { blobKey } = await prisma.recordingThumbnails.findUniqueOrThrow({ where: { recordingId: front } });
  await deps.blobs.delete(blobKey!);
  assert.equal((await fetch(topics[0]!.link)).status, 404);
  const again = await ready(front);
  assert.equal(again.state, "ready");
  await fetchJpeg(again.topics[0]!.link);
});

test("thumbnails go with their recording", async () => {
  const id = await upload("going", [camera("/front", 1)]);
  const { topics } = await ready(id);
  const { blobKey } = await prisma.recordingThumbnails.findUniqueOrThrow({ where: { recordingId: id } });
  await admin.call(api.recordings.delete, { keyOrId: id });
  await eventually(
    () => deps.blobs.stat(blobKey!),
    (found) => found === undefined,
  );
  assert.equal((await fetch(topics[0]!.link)).status, 404);
  await assert.rejects(admin.call(api.thumbnails.get, { keyOrId: id }), refusedWith("NotFound", /going|recording/));
});

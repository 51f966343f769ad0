import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, parseTimestamp } from "@downlink/protocol";
import { eventually, makeMcap, type TopicSpec } from "@downlink/recordings/testing";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { loseData } from "../../import-life/lost-data.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { makeThumbnails } from "./make-thumbnails.ts";

const NOTHING = "it has no message of CompressedImage, Image, RawImage, NavSatFix or LocationFix that can be shown";
const START = 1_760_000_000_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const [{ id: projectId } = assert.fail()] = await admin.call(api.projects.list, {});

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
  const of = { filename: `${name}.mcap`, deviceName: name, projectId };
  const made = await uploadFile(cloud, Buffer.from(bytes), of);
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
  assert.match(answer.headers.get("cache-control")!, /^private, max-age=3600/);
  return jpeg.decode(Buffer.from(await answer.arrayBuffer()), { useTArray: true });
}

interface GeoJson {
  readonly geometry: { readonly type: string; readonly coordinates: readonly (number | readonly number[])[] };
  readonly properties: { readonly topic: string; readonly coordinateProperties: { readonly times: readonly string[] } };
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
  const latest = (atNs: bigint) => START + (atNs / 100_000_000n) * 100_000_000n;
  const wanted = Array.from({ length: 12 }, (_, place) => latest((9_980_000_000n * BigInt(place + 1)) / 12n));
  assert.deepEqual(times, wanted);
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
  assert.deepEqual(await ready(silent), {
    state: "none",
    reason: NOTHING,
    topics: [],
  });
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

test("a recording with positions has its track as GeoJSON, with the ends of it, and with a camera or without", async () => {
  const gps: TopicSpec = { topic: "/gps", kind: "gps", rateHz: 100 };
  const fetchTrack = async (id: string) => {
    const { state, track } = await ready(id);
    assert.equal(state, "ready");
    const answer = await fetch(track!.link);
    assert.equal(answer.headers.get("content-type"), "application/geo+json");
    const { geometry, properties } = (await answer.json()) as GeoJson;
    const { times } = properties.coordinateProperties;
    assert.deepEqual([properties.topic, times.length], ["/gps", track!.count]);
    return { geometry, times: times.map((time) => parseTimestamp(time)!) };
  };
  const whole = await fetchTrack(await upload("way", [gps, camera("/front", 1)]));
  assert.deepEqual([whole.geometry.type, whole.times.length], ["LineString", 500]);
  assert.deepEqual([whole.times[0], whole.times.at(-1)], [START, START + 9_990_000_000n]);
  for (const [at, [, latitude]] of (whole.geometry.coordinates as number[][]).entries()) {
    const sequence = Number((whole.times[at]! - START) / 10_000_000n);
    assert.ok(Math.abs(latitude! - (52.52 + sequence * 1e-5)) < 1e-9, `${latitude} at ${sequence}`);
  }
  const lost: TopicSpec = {
    ...gps,
    messageAt: ({ sequence }) => (sequence === 7 ? { latitude: 1, longitude: 2 } : {}),
  };
  const without: TopicSpec = { ...gps, topic: "/first", messageAt: () => ({}) };
  const single = await fetchTrack(await upload("single", [without, lost]));
  assert.deepEqual(single.geometry, { type: "Point", coordinates: [2, 1] });
  const blob: TopicSpec = { topic: "/scan", kind: "blob", rateHz: 10, sizeBytes: 700_000 };
  const large = await fetchTrack(await upload("large", [gps, blob]));
  assert.equal(large.times.length, 48);
  assert.equal(large.times.at(-1), START + 9_990_000_000n);
});

test("a list shows none of another project, and has those made that are not yet", async () => {
  const { id: otherId } = await admin.call(api.projects.create, { name: "other" });
  const keyOf = async (project: string) => {
    const key = { name: project, capabilities: ["data.stream" as const], projectIds: [project] };
    return cloud.withToken((await admin.call(api.apiKeys.create, key)).token!);
  };
  const [own, other] = [await keyOf(projectId), await keyOf(otherId)];
  const listed = async (client: typeof own) =>
    (await client.call(api.thumbnails.list, { recordingIds: [front] })).thumbnails.map((one) => one.recordingId);
  assert.deepEqual([await listed(own), await listed(other)], [[front], []]);
  await assert.rejects(other.call(api.thumbnails.get, { keyOrId: front }), refusedWith("NotFound", /recording/));
  await prisma.recordingThumbnails.delete({ where: { recordingId: front } });
  await listed(other);
  assert.deepEqual(
    await eventually(
      () => listed(own),
      (ids) => ids.length > 0,
    ),
    [front],
  );
});

test("a project that is set to make none while pictures are made has none", async () => {
  const id = await upload("turned-off", [camera("/front", 1)]);
  await ready(id);
  await prisma.recordingThumbnails.delete({ where: { recordingId: id } });
  const stored: string[] = [];
  const put: typeof deps.blobs.put = async (key, ...rest) => {
    stored.push(key);
    await admin.call(api.projects.update, { id: projectId, thumbnails: "none" });
    return deps.blobs.put(key, ...rest);
  };
  const blobs = Object.assign(Object.create(deps.blobs) as typeof deps.blobs, { put });
  await makeThumbnails({ ...deps, blobs }, id, new AbortController().signal);
  assert.equal(stored.length, 1);
  assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: id } }), null);
  await eventually(
    () => deps.blobs.stat(stored[0]!),
    (found) => found === undefined,
  );
  await admin.call(api.projects.update, { id: projectId, thumbnails: "own" });
});

test("what goes wrong beside the pictures is not written down, and they are made when someone looks", async () => {
  const id = await upload("away", [camera("/front", 1)]);
  await ready(id);
  await prisma.recordingThumbnails.delete({ where: { recordingId: id } });
  const open: typeof deps.blobs.open = () => Promise.reject(new Error("the store does not answer"));
  const blobs = Object.assign(Object.create(deps.blobs) as typeof deps.blobs, { open });
  await makeThumbnails({ ...deps, blobs }, id, new AbortController().signal);
  assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: id } }), null);
  assert.equal((await ready(id)).state, "ready");
});

test("pictures that cannot be read are named, and hold up nothing", async () => {
  const broken: TopicSpec = { ...camera("/broken", 2), messageAt: () => ({ format: "png", data: "AAAA" }) };
  const id = await upload("broken", [broken]);
  const { state, reason } = await ready(id);
  assert.deepEqual([state, reason], ["none", "/broken: The picture is neither JPEG nor PNG."]);
});

test("a project that makes none has none any more, their objects go, and once it makes them again they are made when they are asked for", async () => {
  await ready(front);
  const { blobKey } = await prisma.recordingThumbnails.findUniqueOrThrow({ where: { recordingId: front } });
  const off = await admin.call(api.projects.update, { id: projectId, thumbnails: "none" });
  assert.equal(off.thumbnails, "none");
  const none = await admin.call(api.thumbnails.get, { keyOrId: front });
  assert.deepEqual(none, { state: "none", reason: "the project makes no thumbnails", topics: [] });
  await eventually(
    () => deps.blobs.stat(blobKey!),
    (found) => found === undefined,
  );
  await admin.call(api.projects.update, { id: projectId, thumbnails: "own" });
  assert.equal((await ready(front)).state, "ready");
});

test("pictures of what lies in a customer's bucket are made where the project lets them leave it, and go when it no longer does", async () => {
  const id = await upload("bucket", [camera("/front", 1)]);
  await ready(id);
  await prisma.recordingThumbnails.delete({ where: { recordingId: id } });
  await prisma.recording.update({ where: { id }, data: { location: '{"path":"a.mcap","bucket":"robots"}' } });
  const { state, reason } = await ready(id);
  assert.deepEqual(
    [state, reason],
    ["none", "its data is in a customer's bucket, and its project keeps no thumbnails of those"],
  );
  await makeThumbnails(deps, id, new AbortController().signal);
  assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: id } }), null);
  await admin.call(api.projects.update, { id: projectId, thumbnails: "all" });
  assert.equal((await ready(id)).state, "ready");
  await admin.call(api.projects.update, { id: projectId, thumbnails: "own" });
  assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: id } }), null);
  assert.deepEqual([(await ready(front)).state, (await ready(id)).state], ["ready", "none"]);
});

test("a recording with a long gap has pictures of the times at which it has messages", async () => {
  const id = await upload("gapped", [camera("/front", 10)]);
  await ready(id);
  await prisma.recordingThumbnails.delete({ where: { recordingId: id } });
  const at = (tenths: number) => START + BigInt(tenths) * 100_000_000n;
  const spans = [
    { recordingId: id, startNs: at(0), endNs: at(6) },
    { recordingId: id, startNs: at(90), endNs: at(96) },
  ];
  await prisma.recordingSpan.createMany({ data: spans });
  const { topics } = await ready(id);
  const wanted = [1, 2, 3, 4, 5, 6, 91, 92, 93, 94, 95, 96].map(at);
  assert.deepEqual(topics[0]!.times, wanted);
});

test("pictures of data that is replaced while they are made are not kept, and those of lost data go", async () => {
  const id = await upload("replaced", [camera("/front", 1)]);
  await ready(id);
  await prisma.recordingThumbnails.delete({ where: { recordingId: id } });
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id } });
  const put: typeof deps.blobs.put = async (key, ...rest) => {
    await prisma.recording.update({ where: { id }, data: { blobKey: `${blobKey}2` } });
    return deps.blobs.put(key, ...rest);
  };
  const blobs = Object.assign(Object.create(deps.blobs) as typeof deps.blobs, { put });
  await makeThumbnails({ ...deps, blobs }, id, new AbortController().signal);
  await prisma.recording.update({ where: { id }, data: { blobKey } });
  assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: id } }), null);
  assert.equal((await ready(id)).state, "ready");
  const lost = { recordingId: id, blobKey: blobKey! };
  await withTransaction(deps.db, (tx) =>
    loseData(contextOf(tx, deps), lost, { code: "ObjectGone", text: "it is gone" }),
  );
  assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: id } }), null);
  assert.deepEqual(await ready(id), { state: "none", reason: "the recording is not imported", topics: [] });
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

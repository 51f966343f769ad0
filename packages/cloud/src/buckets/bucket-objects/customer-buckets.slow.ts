import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { encode } from "fast-png";
import { makeThumbnails } from "../../data/thumbnails/make-thumbnails.ts";
import { whyNoCeph } from "../../store/bucket-uploads/testing/run-ceph.ts";
import { anotherMcap, type Customer, startCustomer } from "./testing/start-customer.ts";

const skip = whyNoCeph();
// Without a real S3 every test is skipped, and none of these is used.
const { cloud, ceph, makeSite } = skip === undefined ? await startCustomer({ after }) : ({} as Customer);

test("an object becomes a recording that says where it lies, by a note and by a listing", { skip }, async () => {
  const site = await makeSite();
  await site.put("robots/r1/a.mcap", await anotherMcap({ deviceName: "r1" }));
  await site.put("robots/r2/b.mcap", await anotherMcap({ deviceName: "r2" }));
  await site.note("robots/r1/a.mcap");
  assert.deepEqual(
    (await site.recordings()).map(({ path, location, importStatus, device, site: at }) => [
      path,
      location,
      importStatus,
      device?.name,
      at?.id,
    ]),
    [["robots/r1/a.mcap", { path: "robots/r1/a.mcap", bucket: site.bucket }, "complete", "r1", site.siteId]],
  );
  assert.equal(await site.scan(), undefined);
  assert.deepEqual(
    (await site.recordings()).map(({ path }) => path),
    ["robots/r1/a.mcap", "robots/r2/b.mcap"],
  );
  const requests = await cloud.admin.call(api.pendingImports.list, { siteId: site.siteId, showCompleted: true });
  assert.deepEqual(
    requests.map(({ filename, status }) => [filename, status]),
    [
      ["robots/r1/a.mcap", "complete"],
      ["robots/r2/b.mcap", "complete"],
    ],
  );
});

test("pictures of an object are made where the project lets them leave the bucket", { skip }, async () => {
  const site = await makeSite();
  const data = Buffer.from(encode({ width: 8, height: 6, channels: 1, data: new Uint8Array(48) })).toString("base64");
  const camera = { topic: "/front", kind: "camera", rateHz: 5, messageAt: () => ({ format: "png", data }) } as const;
  await site.put("a.mcap", await anotherMcap({ deviceName: "r1" }, { topics: [camera] }));
  await site.note("a.mcap");
  const [{ id: keyOrId, projectId } = assert.fail()] = await site.recordings();
  const look = () => cloud.admin.call(api.thumbnails.get, { keyOrId });
  assert.equal((await look()).state, "none");
  await cloud.admin.call(api.projects.update, { id: projectId, thumbnails: "all" });
  const { topics } = await eventually(look, ({ state }) => state !== "pending");
  assert.deepEqual(
    topics.map(({ topic, width, height }) => [topic, width, height]),
    [["/front", 8, 6]],
  );
  await cloud.admin.call(api.projects.update, { id: projectId, thumbnails: "own" });
  assert.equal((await look()).state, "none");
});

test("pictures go with their object and with its site, and a missing object casts no doubt on our own store", {
  skip,
}, async () => {
  const { prisma } = cloud.deps.db;
  const site = await makeSite();
  const data = Buffer.from(encode({ width: 8, height: 6, channels: 1, data: new Uint8Array(48) })).toString("base64");
  const camera = { topic: "/front", kind: "camera", rateHz: 5, messageAt: () => ({ format: "png", data }) } as const;
  const bytes = await anotherMcap({ deviceName: "r1" }, { topics: [camera] });
  await site.put("a.mcap", bytes);
  await site.note("a.mcap");
  const [{ id: keyOrId, projectId } = assert.fail()] = await site.recordings();
  const id = { id: projectId };
  await cloud.admin.call(api.projects.update, { ...id, thumbnails: "all" });
  const ready = () =>
    eventually(
      () => cloud.admin.call(api.thumbnails.get, { keyOrId }),
      ({ state }) => state === "ready",
    );
  const link = (await ready()).topics[0]!.link;
  await site.remove("a.mcap");
  await site.note("a.mcap");
  const isGone = async () => {
    assert.equal(await prisma.recordingThumbnails.findUnique({ where: { recordingId: keyOrId } }), null);
    const { state, reason } = await cloud.admin.call(api.thumbnails.get, { keyOrId });
    assert.deepEqual([state, reason], ["none", "the recording is not imported"]);
  };
  await isGone();
  await eventually(
    () => fetch(link),
    ({ status }) => status === 404,
  );
  await site.put("a.mcap", bytes);
  await site.note("a.mcap");
  await ready();
  await prisma.recordingThumbnails.delete({ where: { recordingId: keyOrId } });
  await prisma.deployment.update({ where: { id: 1 }, data: { damageSeenAtNs: null } });
  await site.remove("a.mcap");
  await makeThumbnails(cloud.deps, keyOrId, new AbortController().signal);
  assert.equal((await prisma.deployment.findFirstOrThrow()).damageSeenAtNs, null);
  await cloud.admin.call(api.sites.delete, { id: site.siteId });
  await isGone();
  await cloud.admin.call(api.projects.update, { ...id, thumbnails: "own" });
});

test("an object whose name has `..` is that object, and no other one", { skip }, async () => {
  const site = await makeSite({ prefix: "runs/" });
  await site.put("runs/../a.mcap", await anotherMcap({ deviceName: "r1" }));
  await site.put("a.mcap", await anotherMcap({ deviceName: "r2" }));
  await site.put("runs/./b.mcap", await anotherMcap({ deviceName: "r3" }));
  for (const name of ["runs/../b.mcap", "runs/../../secret/a.mcap"]) await site.note(name);
  await site.scan();
  assert.deepEqual(
    (await site.recordings()).map(({ path, importStatus, device }) => [path, importStatus, device?.name]),
    [
      ["runs/../a.mcap", "complete", "r1"],
      ["runs/./b.mcap", "complete", "r3"],
    ],
  );
});

test("removed, the recording says so and stays; when the object is back, so is the recording", { skip }, async () => {
  const site = await makeSite();
  const bytes = await anotherMcap({ deviceName: "r1" });
  await site.put("a.mcap", bytes);
  await site.note("a.mcap");
  const [before] = await site.recordings();
  await site.remove("a.mcap");
  await site.note("a.mcap");
  const [gone] = await site.recordings();
  assert.deepEqual([gone!.id, gone!.importStatus, gone!.failure?.code], [before!.id, "failed", "ObjectGone"]);
  await site.put("a.mcap", bytes);
  await site.scan();
  assert.deepEqual(await site.recordings(), [before]);
});

test("other bytes under the name are another recording, also in a bucket with versions", { skip }, async () => {
  for (const isVersioned of [false, true]) {
    const site = await makeSite({ isVersioned });
    for (let at = 0; at < 2; at++) {
      await site.put("a.mcap", await anotherMcap({ deviceName: "r1" }));
      await site.note("a.mcap");
    }
    const recordings = await site.recordings();
    assert.deepEqual(recordings.map(({ importStatus, failure }) => failure?.code ?? importStatus).sort(), [
      "ObjectReplaced",
      "complete",
    ]);
  }
});

test("an object that was moved is the same recording at its new place", { skip }, async () => {
  const site = await makeSite();
  await site.put("a.mcap", await anotherMcap({ deviceName: "r1" }));
  await site.scan();
  const [before] = await site.recordings();
  await site.move("a.mcap", "b.mcap");
  await site.scan();
  const [moved, ...others] = await site.recordings();
  assert.deepEqual(others, []);
  assert.deepEqual([moved!.id, moved!.importStatus, moved!.location?.path], [before!.id, "complete", "b.mcap"]);
});

test("a deleted recording is not imported again by the next listing, and its object stays", { skip }, async () => {
  const site = await makeSite();
  await site.put("a.mcap", await anotherMcap());
  await site.scan();
  const [{ id } = assert.fail()] = await site.recordings();
  await cloud.admin.call(api.recordings.delete, { keyOrId: id });
  await site.scan();
  assert.deepEqual(await site.recordings(), []);
  await site.put("a.mcap", await anotherMcap());
  await site.scan();
  assert.equal((await site.recordings()).length, 1);
});

test("of a deleted site the recordings are unavailable, and another organization never saw one", { skip }, async () => {
  const site = await makeSite();
  await site.put("a.mcap", await anotherMcap());
  await site.scan();
  const [{ id } = assert.fail()] = await site.recordings();
  const theirs = await cloud.otherOrganization();
  await assert.rejects(theirs.call(api.recordings.get, { keyOrId: id }));
  await cloud.admin.call(api.sites.delete, { id: site.siteId });
  const left = await cloud.admin.call(api.recordings.get, { keyOrId: id });
  assert.deepEqual(
    [left.importStatus, left.failure?.code, left.location, left.site],
    ["failed", "SiteDeleted", undefined, undefined],
  );
});

test("an export reads the object that was imported; of one that was replaced nobody has noted, it fails", {
  skip,
}, async () => {
  const site = await makeSite();
  await site.put("a.mcap", await anotherMcap());
  await site.scan();
  const [{ id: recordingId } = assert.fail()] = await site.recordings();
  const download = async () => {
    const { link } = await cloud.admin.call(api.exports.create, { recordingId });
    const response = await fetch(link);
    if (response.status !== 200) throw new Error(`answered ${response.status}`);
    return (await response.arrayBuffer()).byteLength;
  };
  assert.ok((await download()) > 0);
  await site.put("a.mcap", await anotherMcap());
  await assert.rejects(download());
});

test("an episode knows which of its recordings lack their object, and that they are back", { skip }, async () => {
  const site = await makeSite();
  const bytes = await anotherMcap();
  await site.put("a.mcap", bytes);
  await site.put("b.mcap", await anotherMcap());
  await site.scan();
  const recordings = (await site.recordings()).map(({ id }) => id);
  const [{ projectId } = assert.fail()] = await site.recordings();
  const { episodes } = await cloud.admin.call(api.episodes.getOrCreate, { projectId, episodes: [{ recordings }] });
  const where = { episodeId: episodes[0]!.id };
  const missing = async () => (await cloud.deps.db.prisma.episodeAvailability.findFirstOrThrow({ where })).missingCount;
  assert.equal(await missing(), 0);
  await site.remove("a.mcap");
  await site.scan();
  assert.equal(await missing(), 1);
  await site.put("a.mcap", bytes);
  await site.scan();
  assert.equal(await missing(), 0);
});

test("Ceph's log knows of not one write or delete", { skip }, async () => {
  const calls = await ceph.callsOfReader();
  assert.deepEqual(
    calls.filter((call) => !/^(GET|HEAD) /.test(call)),
    [],
  );
  assert.ok(calls.length > 0);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { api, type CallInput, type LakeFile } from "@downlink/protocol";
import { eventually, makeBag, makeMcap, type ReadMessage, readMessages } from "@downlink/recordings/testing";
import { lakeFileKey, topicHashOf } from "../../background/indexing/lake-key.ts";
import { setIndexing } from "../../data/lake-files/set-indexing.ts";
import { newId } from "../../db/ids.ts";
import { filesOf } from "../../store/blobs/file-layout.ts";
import { openFileStore } from "../../store/blobs/file-store.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createSite, startConnected } from "../../testing/start-site.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { endOfImport, putFile } from "../../testing/upload-file.ts";
import { beginLake } from "./lake-store.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const robot = await admin.call(api.devices.create, { name: "robot" });
const plant = await createSite({ after }, cloud, "plant");
const { siteId } = plant;
await setIndexing(deps, { name: siteId, strategy: "split-files" });
let site = await startConnected(cloud, plant);
after(() => site[Symbol.asyncDispose]());
const objectsDir = join(plant.dataDir, "objects");
let minute = 0n;

async function anotherFile(format: "mcap" | "bag") {
  minute += 60n;
  const startNs = (1_760_000_000n + minute) * SECOND;
  return format === "bag"
    ? makeBag({ startNs, durationSeconds: 1 })
    : makeMcap({ startNs, durationSeconds: 1, attachments: [{ name: "a.txt", data: Buffer.from("kept") }] });
}

async function upload(bytes: Uint8Array, format: "mcap" | "bag" = "mcap") {
  const { link, requestId } = await admin.call(api.uploads.create, {
    ...{ filename: `a.${format}`, deviceId: robot.id, siteId },
  });
  assert.equal((await putFile(link, bytes)).status, 200);
  const { recordingId, errorCode } = await endOfImport(cloud, requestId);
  assert.equal(errorCode, null);
  return deps.db.prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
}

const listOf = (recordingId: string) => admin.call(api.lakeFiles.list, { siteId, recordingId });
const listed = (recordingId: string): Promise<LakeFile[]> =>
  eventually(
    () => listOf(recordingId),
    (files) => files.length > 0,
  );

/** The names of all files that belong to files by topic. */
async function lakeObjects(): Promise<string[]> {
  const names = await readdir(objectsDir, { recursive: true });
  return names.filter((name) => name.includes("lake+"));
}

async function exported(body: CallInput<typeof api.exports.create>): Promise<ReadMessage[]> {
  const { link } = await admin.call(api.exports.create, body);
  assert.ok(link.startsWith(site.url));
  const response = await fetch(link);
  assert.equal(response.status, 200);
  return readMessages(new Uint8Array(await response.arrayBuffer()));
}

/** Equal for the same messages in the same channels, in the order that each topic has. */
function contentOf(messages: readonly ReadMessage[]): Record<string, object[]> {
  const topics = [...new Set(messages.map(({ topic }) => topic))].sort();
  const plain = messages.map(({ channelId, ...rest }) => rest);
  return Object.fromEntries(topics.map((topic) => [topic, plain.filter((message) => message.topic === topic)]));
}

for (const format of ["mcap", "bag"] as const)
  test(`a ${format} gets a file of each topic, from which exports of few topics read without the recording`, async () => {
    const recording = await upload(await anotherFile(format), format);
    const { id: recordingId, importId, siteObjectKey } = recording;
    const files = await listed(recordingId);
    const whole = await exported({ recordingId });
    assert.deepEqual(files.flatMap(({ topics }) => topics).sort(), Object.keys(contentOf(whole)));
    assert.deepEqual(
      files,
      files.map(({ topics }) => {
        return { topics, path: lakeFileKey({ importId: importId!, topicHash: topicHashOf(topics[0]!) }) };
      }),
    );
    const { object } = filesOf(objectsDir, siteObjectKey!);
    await rename(object, `${object}-away`);
    try {
      for (const { topics } of files) {
        const expected = whole.filter(({ topic }) => topic === topics[0]);
        assert.deepEqual(contentOf(await exported({ recordingId, topics })), contentOf(expected));
      }
      const topics = files.slice(0, 2).flatMap((file) => file.topics);
      const window = { start: whole[3]!.logTimeNs, end: whole.at(-3)!.logTimeNs };
      const expected = whole.filter(
        ({ topic, logTimeNs }) => topics.includes(topic) && logTimeNs >= window.start && logTimeNs <= window.end,
      );
      assert.deepEqual(
        contentOf(await exported({ recordingId, topics: [...topics, "/none"], ...window })),
        contentOf(expected),
      );
      assert.deepEqual(await exported({ recordingId, topics: ["/none"] }), []);
      for (const body of [
        {},
        { topics, includeAttachments: true },
        { topics, replayPolicy: "lastPerChannel" as const },
      ]) {
        const { link } = await admin.call(api.exports.create, { recordingId, ...body });
        assert.equal((await fetch(link)).status, 404, "all other exports read the recording");
      }
    } finally {
      await rename(`${object}-away`, object);
    }
  });

test("deleting a recording removes its files by topic, and those of others stay", async () => {
  const kept = await upload(await anotherFile("mcap"));
  await listed(kept.id);
  const before = await lakeObjects();
  const { id } = await upload(await anotherFile("mcap"));
  await listed(id);
  assert.equal((await lakeObjects()).length, before.length + 9, "four files, their indexes and the list");
  await admin.call(api.recordings.delete, { keyOrId: id });
  await eventually(lakeObjects, (names) => names.length === before.length);
  assert.deepEqual((await lakeObjects()).sort(), before.sort());
});

test("whatever a killed process left of files by topic, needed or not, the next one ends whole and without it", async () => {
  const { id, importId } = await upload(await anotherFile("mcap"));
  await listed(id);
  const before = (await lakeObjects()).sort();
  const whole = contentOf(await exported({ recordingId: id, topics: ["/imu"] }));
  const port = new URL(site.url).port;
  await site[Symbol.asyncDispose]();
  await deps.db.prisma.lake.deleteMany({ where: { importId: importId! } });
  const clock = createStoppedClock(0n);
  const signer = { sign: () => "", verify: () => false } as never;
  const store = await openFileStore({ directory: objectsDir, signer, publicUrl: () => "", clock });
  const hash = topicHashOf("/imu");
  async function* noise() {
    yield randomBytes(1000);
  }
  // One file of the needed import is not what it was. One other import has only the note; another has the note, the list and some files.
  const torn = lakeFileKey({ importId: importId!, topicHash: hash });
  await store.delete(torn);
  await store.put(torn, noise());
  const [noted, begun] = [newId("imp"), newId("imp")];
  await store.putNote(`lakes/${noted}`, Buffer.from("\n"));
  await beginLake(store, begun, [hash, topicHashOf("/other")]);
  await store.put(lakeFileKey({ importId: begun, topicHash: hash }), noise());
  site = await startConnected(cloud, { ...plant, port });
  await listed(id);
  await eventually(lakeObjects, (names) => names.length === before.length);
  assert.deepEqual((await lakeObjects()).sort(), before);
  assert.deepEqual(contentOf(await exported({ recordingId: id, topics: ["/imu"] })), whole);
  const notes = (await Array.fromAsync(store.listNotes("lakes/"))).map(({ key }) => key.split("/")[1]);
  assert.ok(!notes.includes(noted) && !notes.includes(begun));
});

test("a site that is told to keep recordings whole removes the files, and exports read the recordings", async () => {
  const { id } = await upload(await anotherFile("mcap"));
  await listed(id);
  const topics = ["/imu"];
  const byTopic = await exported({ recordingId: id, topics });
  await setIndexing(deps, { name: siteId, strategy: "whole-files" });
  assert.deepEqual(await listOf(id), []);
  assert.deepEqual(contentOf(await exported({ recordingId: id, topics })), contentOf(byTopic));
  await eventually(lakeObjects, (names) => names.length === 0);
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { bytesSource, inspectRecording } from "@downlink/recordings";
import { type AttachmentSpec, eventually, makeBag, makeMcap, slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;

/** Uploads a file, and returns its recording once it is complete. */
async function importFile(bytes: Uint8Array, filename = "a.mcap") {
  const { link, requestId } = await admin.call(api.uploads.create, { filename, deviceName: "robot" });
  const headers = { "content-type": "application/octet-stream" };
  await fetch(link, { method: "PUT", headers, body: bytes as Uint8Array<ArrayBuffer> });
  const find = () => prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const { state, errorText, recordingId } = await eventually(find, ({ state }) => /complete|error/.test(state));
  assert.equal(state, "complete", errorText ?? "");
  return prisma.recording.findUniqueOrThrow({
    where: { id: recordingId! },
    include: { topics: { orderBy: { topic: "asc" } }, attachments: { orderBy: { name: "asc" } } },
  });
}

for (const [fileName, make] of [
  ["a.mcap", () => makeMcap()],
  ["unindexed.mcap", () => makeMcap({ isIndexed: false, isChunked: false })],
  ["a.bag", () => makeBag()],
] as const)
  test(`the counts and first and last times of each topic of ${fileName} are stored, as its messages have them`, async () => {
    const bytes = await make();
    const { topics, messageCount, startNs, endNs } = await importFile(bytes, fileName);
    const inspection = await inspectRecording(bytesSource(bytes), { fileName, verifyChunks: true });
    assert(inspection.state === "finished");
    const expected = inspection.summary.topics.toSorted((a, b) => (a.topic < b.topic ? -1 : 1));
    assert.deepEqual(
      topics.map(({ topic, messageCount, startNs, endNs }) => ({ topic, messageCount, startNs, endNs })),
      expected.map(({ topic, messageCount, startNs, endNs }) => ({
        topic,
        messageCount: BigInt(messageCount),
        startNs,
        endNs,
      })),
    );
    assert.equal(
      messageCount,
      topics.reduce((sum, topic) => sum + topic.messageCount, 0n),
    );
    for (const topic of topics) assert.ok(topic.startNs! >= startNs && topic.endNs! <= endNs);
  });

test("lists need no file: topics, schemas, metadata and attachments are shown without the object", async () => {
  const metadata = [{ name: "drive", metadata: { weather: "rain" } }];
  const data = Buffer.from("{}");
  const attachments = [{ name: "calibration.json", mediaType: "application/json", data }];
  const { id, blobKey, attachments: rows } = await importFile(await makeMcap({ metadata, attachments, seed: 7 }));
  await deps.blobs.delete(blobKey!);

  assert.deepEqual((await admin.call(api.recordings.get, { keyOrId: id })).metadata, metadata);
  const topics = await admin.call(api.topics.list, { recordingId: id, includeSchemas: true });
  assert.match(Buffer.from(topics.find(({ topic }) => topic === "/imu")!.schema!, "base64").toString(), /angular/);
  assert.equal(rows[0]!.fingerprint, `sha256:${createHash("sha256").update(data).digest("hex")}`);
  const [attachment] = await admin.call(api.attachments.list, { recordingId: id });
  assert.deepEqual(
    [attachment!.name, attachment!.size, attachment!.fingerprint],
    ["calibration.json", 2, rows[0]!.fingerprint],
  );
});

test("attachments of the same content have the same fingerprint, whatever else differs, and others have different ones", async () => {
  const bytes = { same: Buffer.alloc(70_000, 1), other: Buffer.alloc(70_000, 2) };
  const first = await importFile(await makeMcap({ seed: 8, attachments: [{ name: "a", data: bytes.same }] }));
  const second = await importFile(
    await makeMcap({
      seed: 9,
      attachments: [
        { name: "b", mediaType: "image/png", data: bytes.same, logTimeNs: 5n },
        { name: "c", data: bytes.other },
      ],
    }),
  );
  const [a, b, c] = [...first.attachments, ...second.attachments].map(({ fingerprint }) => fingerprint);
  assert.ok(a);
  assert.equal(a, b);
  assert.notEqual(b, c);
});

slowTest("any text that a file may hold can be stored, and U+0000 becomes U+FFFD", async () => {
  const text = fc.oneof(
    fc.array(fc.nat(0x10ffff), { maxLength: 20 }).map((codes) => String.fromCodePoint(...codes)),
    fc.constantFrom(
      "",
      "\0",
      "a\0b",
      "__proto__",
      "constructor",
      "\u2028",
      "\\",
      '"',
      "'; DROP TABLE x",
      "{}",
      "\uffff",
    ),
  );
  const attachment = fc.record({ name: text, mediaType: text, data: fc.uint8Array({ maxLength: 9 }) });
  const key = text.filter(({ length }) => length !== 1); // V8 13.6's JSON.parse confuses keys of one escaped character
  const record = fc.record({ name: text, metadata: fc.dictionary(key, text, { noNullPrototype: true }) });
  const lists = fc.tuple(
    fc.uniqueArray(text, { minLength: 1, maxLength: 4, selector: storable }),
    fc.array(attachment, { maxLength: 3 }),
    fc.array(record, { maxLength: 3 }),
  );
  let seed = 100;
  await fc.assert(
    fc.asyncProperty(lists, async ([names, attachments, metadata]) => {
      const topics = names.map((topic) => ({ topic, kind: "log" as const, rateHz: 20 }));
      const bytes = await makeMcap({ seed: seed++, durationSeconds: 0.2, topics, attachments, metadata });
      const recording = await importFile(bytes);
      assert.deepEqual(recording.topics.map(({ topic }) => topic).sort(), names.map(storable).sort());
      assert.deepEqual(namesOf(recording.attachments), namesOf(attachments));
      const stored = recording.metadata as typeof metadata;
      assert.deepEqual(stored.map(storableRecord), metadata.map(storableRecord));
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/**
 * If several keys become equal, the last one counts. Entries are sorted, because the order of an object's keys depends on what they look
 * like.
 */
function storableRecord({ name, metadata }: { name: string; metadata: Record<string, string> }) {
  const entries = Object.entries(metadata).map(([key, value]) => [storable(key), storable(value)]);
  return { name: storable(name), entries: Object.entries(Object.fromEntries(entries)).sort() };
}

function namesOf(attachments: readonly Pick<AttachmentSpec, "name" | "mediaType">[]): string[] {
  return attachments.map(({ name, mediaType }) => JSON.stringify([storable(name), storable(mediaType!)])).sort();
}

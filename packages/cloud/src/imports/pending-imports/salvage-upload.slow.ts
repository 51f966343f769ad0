import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput } from "@downlink/protocol";
import {
  hostileFiles,
  makeBag,
  makeMcap,
  type ReadMessage,
  readIndexedMessages,
  readMessages,
} from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile } from "../../testing/test-agent.ts";
import { endOfImport, putFile, uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let minute = 0n;

/** Makes a recording that no other test has. */
function anotherMcap(more: Parameters<typeof makeMcap>[0] = {}) {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, chunkBytes: 20_000, ...more });
}

const share = (bytes: Uint8Array, part: number) => bytes.slice(0, Math.floor(bytes.byteLength * part));
const salvage = (requestId: string, client = admin) => client.call(api.pendingImports.salvage, { requestId });
const requestOf = (id: string) => prisma.importRequest.findUniqueOrThrow({ where: { id } });

async function uploadDamaged(
  bytes: Uint8Array,
  code: string,
  more: Partial<CallInput<typeof api.uploads.create>> = {},
) {
  const ended = await uploadFile(cloud, bytes, { filename: "drive.mcap", deviceName: "robot", ...more });
  assert.deepEqual([ended.status, ended.errorCode], ["error", code], ended.error);
  return ended.requestId;
}

async function bytesOf(requestId: string): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const response = await fetch(`${cloud.url}/v1/data/pending-imports/${requestId}/file`, { headers });
  assert.equal(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

function contentOf(messages: readonly ReadMessage[]): string[] {
  const lines = messages.map(
    ({ topic, logTimeNs, data }) => `${logTimeNs} ${topic} ${Buffer.from(data).toString("hex")}`,
  );
  return lines.sort();
}

/** Salvages the stored file of a request, and returns its recording with its messages. */
async function endOfSalvage(requestId: string) {
  const asked = await salvage(requestId);
  assert.equal(asked.salvageOf, requestId);
  const ended = await endOfImport(cloud, asked.requestId);
  assert.deepEqual([ended.status, ended.error, ended.salvageOf], ["complete", undefined, requestId]);
  const recording = await admin.call(api.recordings.get, { keyOrId: ended.recordingId! });
  const messages = contentOf(await readIndexedMessages(await bytesOf(ended.requestId)));
  const record = recording.metadata.findLast(({ name }) => name === "downlink.salvage")!.metadata;
  assert.equal(record.messageCount, `${messages.length}`);
  return { ended, recording, messages, record };
}

test("what is readable of a cut upload becomes a recording beside it, which names its source; the upload stays as it was", async () => {
  const metadata = [{ name: "downlink", metadata: { key: "in-the-file", deviceName: "another" } }];
  const whole = await anotherMcap({ metadata });
  const cut = share(whole, 0.7);
  const names = { filename: "runs/day 1/drive.mcap", deviceName: "cut", sessionKey: "morning", key: "wanted" };
  const requestId = await uploadDamaged(cut, "NoEnd", names);
  const before = await requestOf(requestId);

  const { ended, recording, messages, record } = await endOfSalvage(requestId);
  const { sessionId, sizeBytes, errorText } = before;
  assert.deepEqual([recording.path, ended.filename], Array(2).fill("runs/day 1/drive.salvage.mcap"));
  const session = await admin.call(api.sessions.get, { keyOrId: "morning" });
  assert.deepEqual([recording.device?.name, recording.sessionId], ["cut", session.id]);
  assert.equal(recording.key, undefined, "the key is the file's own");
  assert.equal(sessionId, null);
  assert.deepEqual(
    { ...record, readableBytes: undefined, lostBytes: undefined, messageCount: undefined, damage: undefined },
    {
      ...{ requestId, path: names.filename, sizeBytes: `${sizeBytes}`, reasonCode: "NoEnd", reason: errorText },
      ...{ readableBytes: undefined, lostBytes: undefined, messageCount: undefined, damage: undefined },
    },
  );
  assert.equal(Number(record.readableBytes) + Number(record.lostBytes), cut.byteLength);
  assert.deepEqual(JSON.parse(record.damage!), recording.damage);
  assert.equal(recording.damage!.bytesLost, Number(record.lostBytes));
  const originals = contentOf(readMessages(whole));
  assert.ok(messages.length > originals.length / 2 && messages.every((message) => originals.includes(message)));

  assert.deepEqual(await requestOf(requestId), before);
  assert.deepEqual(await bytesOf(requestId), cut);
});

test("a file that is cut 20 bytes into the message index behind its only chunk loses no message", async () => {
  const whole = await anotherMcap({ chunkBytes: 10_000_000, durationSeconds: 1 });
  const cut = whole.slice(0, endOfFirstChunk(whole) + 20);
  const { messages } = await endOfSalvage(await uploadDamaged(cut, "NoEnd"));
  assert.deepEqual(messages, contentOf(readMessages(whole)));
});

test("a flipped bit in one of many chunks costs only that chunk", async () => {
  const whole = await anotherMcap();
  const flipped = new Uint8Array(whole);
  flipped[Math.floor(whole.byteLength / 2)]! ^= 4;
  const { messages, record } = await endOfSalvage(await uploadDamaged(flipped, "BadChunk"));
  const originals = contentOf(readMessages(whole));
  assert.ok(messages.length < originals.length && messages.length > originals.length * 0.8);
  assert.ok(messages.every((message) => originals.includes(message)));
  assert.ok(Number(record.lostBytes) > 1000 && Number(record.lostBytes) < 40_000);
});

test("a bag that was never closed becomes an MCAP", async () => {
  minute += 60n;
  const bag = await makeBag({ isFinished: false, startNs: (1_760_000_000n + minute) * SECOND, chunkBytes: 20_000 });
  const requestId = await uploadDamaged(share(bag, 0.8), "ActiveBag", { filename: "night.bag.active" });
  const { recording, messages } = await endOfSalvage(requestId);
  assert.equal(recording.path, "night.salvage.mcap");
  assert.ok(messages.length > 50);
  const topics = await admin.call(api.topics.list, { recordingId: recording.id });
  assert.deepEqual(
    topics.map(({ topic, encoding }) => [topic, encoding]),
    [
      ["/imu", "ros1"],
      ["/status", "ros1"],
    ],
  );
});

test("if no message can be read the salvage ends with SalvageEmpty, and a retry ends in the same way", async () => {
  const requestId = await uploadDamaged(share(await anotherMcap(), 0.005), "NoEnd");
  const { requestId: salvageId } = await salvage(requestId);
  const ended = await endOfImport(cloud, salvageId);
  assert.deepEqual([ended.status, ended.errorCode], ["error", "SalvageEmpty"]);
  assert.match(ended.error!, /not one message of "drive\.mcap" can be read, so there is nothing to salvage/);
  assert.ok(ended.quarantinedAt);
  assert.equal((await salvage(requestId)).requestId, salvageId);
  await admin.call(api.pendingImports.retry, { requestId: salvageId });
  const again = await endOfImport(cloud, salvageId);
  assert.deepEqual([again.errorCode, again.attempts], ["SalvageEmpty", 2]);
  assert.equal(await prisma.upload.count({ where: { requestId: salvageId, state: { not: "removed" } } }), 0);
});

test("a hostile file ends its own salvage with a reason, or gives its intact parts, and the next one is made", async () => {
  const names = ["a chunk that expands beyond its promise", "a record of 2^63 bytes", "a chunk that promises 4 GiB"];
  for (const { name, code, make } of hostileFiles.filter((file) => names.includes(file.name))) {
    const { requestId } = await salvage(await uploadDamaged(make(), code));
    const ended = await endOfImport(cloud, requestId);
    assert.ok(ended.status === "complete" || ended.errorCode === "SalvageEmpty", `${name}: ${ended.errorCode}`);
  }
  assert.ok((await endOfSalvage(await uploadDamaged(share(await anotherMcap(), 0.5), "NoEnd"))).recording);
});

test("repeats, and many calls at the same moment, answer one request; a salvage whose recording was deleted is made again", async () => {
  const requestId = await uploadDamaged(share(await anotherMcap(), 0.6), "NoEnd");
  const asked = await Promise.all(Array.from({ length: 8 }, () => salvage(requestId)));
  const ids = new Set(asked.map((one) => one.requestId));
  assert.equal(ids.size, 1);
  const [first] = ids;
  const ended = await endOfImport(cloud, first!);
  const repeated = await salvage(requestId);
  assert.deepEqual([repeated.requestId, repeated.recordingId], [first, ended.recordingId]);
  assert.equal(await prisma.importRequest.count({ where: { salvageOfId: requestId } }), 1);

  await admin.call(api.recordings.delete, { keyOrId: ended.recordingId! });
  const again = await salvage(requestId);
  assert.notEqual(again.requestId, first);
  assert.equal((await endOfImport(cloud, again.requestId)).status, "complete");
});

test("a salvage in the making, like an upload that waits for its bytes, is listed by its id, and nowhere else", async () => {
  const waiting = await admin.call(api.uploads.create, { filename: "later.mcap", key: "later" });
  const requestId = await uploadDamaged(share(await anotherMcap(), 0.5), "NoEnd", { deviceName: "listed" });
  const { orgId, projectId, siteId } = await requestOf(requestId);
  const id = "req_being_made";
  const row = {
    orgId,
    projectId,
    siteId,
    state: "awaiting",
    filename: "x.salvage.mcap",
    pipelineStage: "Salvaging",
  } as const;
  const times = { createdAtNs: 1n, updatedAtNs: deps.clock.nowNs() };
  await prisma.importRequest.create({ data: { id, ...row, ...times, source: "salvage", salvageOfId: requestId } });
  const list = (query: CallInput<typeof api.pendingImports.list>) => admin.call(api.pendingImports.list, query);
  const [found] = await list({ requestId: id });
  assert.deepEqual([found!.pipelineStage, found!.salvageOf, found!.status], ["Salvaging", requestId, undefined]);
  assert.equal((await list({ requestId: waiting.requestId })).length, 1);
  const listed = await list({ showCompleted: true });
  assert.ok(!listed.some(({ requestId: one }) => one === id || one === waiting.requestId));
  await prisma.importRequest.delete({ where: { id } });
});

test("a request that failed for another reason is 409, with the reason", async () => {
  const upload = async (bytes: Uint8Array, key: string) =>
    (await uploadFile(cloud, bytes, { filename: "k.mcap", key })).requestId;
  const done = await upload(await anotherMcap(), "taken");
  await assert.rejects(salvage(done), refusedWith("Conflict", /was imported whole; there is nothing to salvage/));
  const cases: Record<string, Uint8Array> = {
    KeyTaken: await anotherMcap(),
    EmptyFile: new Uint8Array(),
    NotARecording: Buffer.from("rubbish"),
    EmptyRecording: await makeMcap({ topics: [] }),
  };
  for (const [code, bytes] of Object.entries(cases))
    await assert.rejects(
      salvage(await upload(bytes, code === "KeyTaken" ? "taken" : code)),
      refusedWith(
        "Conflict",
        new RegExp(`did not fail because its file is incomplete or damaged, but with ${code}: .*retry it or upload`),
      ),
    );
});

test("a request that is waiting, running, cancelled, no longer stored, or a salvage itself is 409, with advice", async () => {
  const { requestId, link } = await admin.call(api.uploads.create, { filename: "w.mcap", key: "w" });
  await assert.rejects(salvage(requestId), refusedWith("Conflict", /has not come yet/));
  await prisma.importRequest.update({ where: { id: requestId }, data: { state: "cancelled" } });
  await assert.rejects(
    salvage(requestId),
    refusedWith("Conflict", /was cancelled, and its file is not stored; upload it again/),
  );
  await prisma.importRequest.update({ where: { id: requestId }, data: { state: "awaiting" } });
  await putFile(link, share(await anotherMcap(), 0.5));
  await endOfImport(cloud, requestId);
  await prisma.importRequest.update({ where: { id: requestId }, data: { state: "processing" } });
  await assert.rejects(salvage(requestId), refusedWith("Conflict", /is being processed; wait/));
  const { blobKey } = await prisma.importRequest.update({ where: { id: requestId }, data: { state: "error" } });
  await deps.blobs.delete(blobKey!);
  await assert.rejects(salvage(requestId), refusedWith("Conflict", /no longer stored; upload it again/));

  const made = await endOfSalvage(await uploadDamaged(share(await anotherMcap(), 0.5), "NoEnd"));
  await assert.rejects(salvage(made.ended.requestId), refusedWith("Conflict", /is a salvage itself; salvage the file/));
});

test("a file of a device of which nothing is stored is salvaged there: 409 names the call", async () => {
  const { requestId } = await askForFile(cloud, "at-the-edge");
  const failed = { state: "error", errorCode: "BadChunk", errorText: "broken" } as const;
  await prisma.importRequest.update({ where: { id: requestId }, data: failed });
  await assert.rejects(
    salvage(requestId),
    refusedWith(
      "Conflict",
      /are stored here; if its device lists the file as damaged, salvage it there, by POST \/v1\/edge-files\/\{id\}\/salvage/,
    ),
  );
});

test("salvaging needs data.upload, and a request that the key may see", async () => {
  const requestId = await uploadDamaged(share(await anotherMcap(), 0.5), "NoEnd");
  const { projectId } = await requestOf(requestId);
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  const statusOf = async (...key: Parameters<typeof cloud.addKey>) => {
    const client = cloud.withToken(await cloud.addKey(...key));
    return salvage(requestId, client).then(
      () => 200,
      (error: ApiCallError) => error.status,
    );
  };
  assert.equal(await statusOf(["data.stream", "data.imports.pending.list"]), 403);
  assert.equal(await statusOf(["data.upload"], [elsewhere]), 404);
  const other = await cloud.otherOrganization();
  await assert.rejects(salvage(requestId, other), refusedWith(404));
  assert.equal(await prisma.importRequest.count({ where: { salvageOfId: requestId } }), 0);
  assert.equal(await statusOf(["data.upload"], [projectId!]), 200);
});

/** Returns where the records behind the first chunk begin. */
function endOfFirstChunk(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let offset = 8;
  while (bytes[offset] !== CHUNK) offset += 9 + Number(view.getBigUint64(offset + 1, true));
  return offset + 9 + Number(view.getBigUint64(offset + 1, true));
}

const CHUNK = 0x06;

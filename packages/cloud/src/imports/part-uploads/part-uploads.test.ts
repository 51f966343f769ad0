import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { after, test } from "node:test";
import { ApiCallError } from "@downlink/client";
import { api, PART_UPLOAD_DAYS, type PartUpload } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { setQuotas } from "../../calls/quotas/set-quotas.ts";
import { untilBlocking } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { sha256 } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { reconcile } from "../ingest/reconcile.ts";

const DAY_NS = 86_400_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;

const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 900_000 }];
const large = Buffer.from(await makeMcap({ durationSeconds: 4, topics, compression: "" }));
let made = 0;
const newBytes = async () => Buffer.from(await makeMcap({ durationSeconds: 1, seed: 1000 + made++ }));

async function begin(bytes: Buffer, more: object = {}): Promise<PartUpload> {
  const input = { filename: "runs/a.mcap", deviceName: "robot", size: bytes.length, ...more };
  const { upload } = await admin.call(api.partUploads.create, input);
  return upload ?? assert.fail("nothing was begun");
}

/** Sends the parts with these numbers, each to its own target. */
async function sendParts(
  bytes: Buffer,
  { requestId, partSize }: PartUpload,
  numbers: readonly number[],
): Promise<void> {
  const parts = numbers.map((number) => {
    const part = bytes.subarray((number - 1) * partSize, number * partSize);
    return { number, length: part.length, sha256: createHash("sha256").update(part).digest("base64") };
  });
  const { grants } = await admin.call(api.partUploads.grantParts, { requestId, parts });
  for (const { number, url, headers } of grants) {
    const body = new Uint8Array(bytes.subarray((number - 1) * partSize, number * partSize));
    const { status } = await fetch(url, { method: "PUT", headers, body });
    assert.equal(status, 200);
  }
}

const complete = (requestId: string, bytes: Buffer) =>
  admin.call(api.partUploads.complete, { requestId, sha256: sha256(bytes) });

async function outcomeOf(requestId: string) {
  const [found] = await eventually(
    () => admin.call(api.pendingImports.list, { requestId }),
    ([request]) => request?.terminal === true,
  );
  return found!;
}

test("a file comes in parts in any order, goes on after a break, and is imported byte for byte", async () => {
  const begun = await begin(large);
  const count = Math.ceil(large.length / begun.partSize);
  assert.ok(count >= 3 && !begun.isStored && begun.digest === "sha256");
  await sendParts(large, begun, [3, 1]);
  const { requestId } = begun;
  await assert.rejects(complete(requestId, large), refusedWith("PartsMissing"));
  const after = await admin.call(api.partUploads.get, { requestId });
  assert.deepEqual(after.parts.map(({ number }) => number).sort(), [1, 3]);
  assert.equal(
    after.parts.find(({ number }) => number === 1)!.sha256,
    createHash("sha256").update(large.subarray(0, begun.partSize)).digest("base64"),
  );
  await sendParts(
    large,
    begun,
    Array.from({ length: count }, (_, at) => at + 1).filter((number) => number !== 1 && number !== 3),
  );
  await complete(requestId, large);
  await complete(requestId, large);
  const { status, recordingId } = await outcomeOf(requestId);
  assert.equal(status, "complete");
  const { link } = await admin.call(api.recordingFiles.link, { keyOrId: recordingId! });
  assert.ok(large.equals(Buffer.from(await (await fetch(link)).arrayBuffer())));
  assert.equal((await admin.call(api.partUploads.get, { requestId })).isStored, true);
});

const digestOf = (bytes: Uint8Array) => ({ sha256: createHash("sha256").update(bytes).digest("base64") });

/** Sends the beginning of the first part, and is gone. Returns what is held of it then. */
async function breakOff(bytes: Buffer, { requestId, partSize }: PartUpload, count: number): Promise<number> {
  const part = bytes.subarray(0, partSize);
  const parts = [{ number: 1, length: part.length, ...digestOf(part) }];
  const { grants } = await admin.call(api.partUploads.grantParts, { requestId, parts });
  const { hostname, port, pathname, search } = new URL(grants[0]!.url);
  const socket = connect(Number(port), hostname);
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: ${part.length}\r\n\r\n`);
  socket.end(part.subarray(0, count));
  const { pieces } = await eventually(
    () => admin.call(api.partUploads.get, { requestId }),
    (upload) => upload.pieces.held.length > 0,
  );
  socket.destroy();
  return pieces.held[0]!.length;
}

test("a part that breaks off is gone on with in pieces, also where what is held turns out to be damaged", async () => {
  const begun = await begin(large);
  const { requestId, partSize, pieces } = begun;
  assert.deepEqual(pieces, { minBytes: 65_536, held: [] });
  const first = large.subarray(0, partSize);
  const part = { requestId, number: 1, length: partSize, ...digestOf(first) };
  const grant = (offset: number, end = partSize) =>
    admin.call(api.partUploads.grantPieces, {
      requestId,
      number: 1,
      pieces: [{ offset, length: end - offset, ...digestOf(first.subarray(offset, end)) }],
    });
  const sendRest = async (offset: number) => {
    const [target] = (await grant(offset)).grants;
    const body = new Uint8Array(first.subarray(offset));
    assert.equal((await fetch(target!.url, { method: "PUT", body })).status, 200);
  };
  const damaged = Buffer.from(large);
  damaged[99]! ^= 1;
  for (const came of [damaged, large]) {
    const heldBytes = await breakOff(came, begun, 1_000_000);
    await assert.rejects(admin.call(api.partUploads.composePart, part), refusedWith("PartsMissing"));
    const asked = await grant(0);
    assert.deepEqual([asked.held.map(({ length }) => length), asked.grants], [[heldBytes], []]);
    await sendRest(heldBytes);
    const composed = admin.call(api.partUploads.composePart, part);
    if (came === damaged) await assert.rejects(composed, refusedWith("DigestMismatch"));
    else assert.deepEqual(await composed, { number: 1 });
  }
  assert.deepEqual(await admin.call(api.partUploads.composePart, part), { number: 1 });
  const { parts, pieces: after } = await admin.call(api.partUploads.get, { requestId });
  assert.deepEqual([parts.map(({ number }) => number), after.held], [[1], []]);
  await assert.rejects(grant(partSize, partSize + 65_536), refusedWith(400));
});

test("content that is here is named before a byte is sent, unless the file is for a session", async () => {
  const bytes = await newBytes();
  const first = await begin(bytes);
  await sendParts(bytes, first, [1]);
  await complete(first.requestId, bytes);
  const { recordingId } = await outcomeOf(first.requestId);
  const again = { filename: "b.mcap", deviceName: "robot", size: bytes.length, sha256: sha256(bytes) };
  const before = await prisma.importRequest.count();
  assert.deepEqual(await admin.call(api.partUploads.create, again), { existingRecordingId: recordingId });
  assert.equal(await prisma.importRequest.count(), before);
  const { upload } = await admin.call(api.partUploads.create, { ...again, sessionKey: "morning" });
  assert.ok(upload);
  const stranger = await cloud.otherOrganization();
  assert.ok((await stranger.call(api.partUploads.create, again)).upload, "another organization learns nothing");
});

test("a file that was changed while it was sent is refused with the reason", async () => {
  const bytes = await newBytes();
  const { requestId, ...begun } = await begin(bytes);
  await sendParts(bytes, { requestId, ...begun }, [1]);
  await complete(requestId, randomBytes(10));
  const { status, error } = await outcomeOf(requestId);
  assert.equal(status, "error");
  assert.match(String(error), /was changed while it was sent; upload it again/);
});

test("a file that is here cannot be given up any more, also if both happen at the same moment", async () => {
  const [bytes, other] = [await newBytes(), await newBytes()];
  const [done, begun] = [await begin(bytes), await begin(other)];
  await sendParts(bytes, done, [1]);
  await complete(done.requestId, bytes);
  await assert.rejects(admin.call(api.partUploads.delete, { requestId: done.requestId }), refusedWith("Conflict"));
  assert.equal((await outcomeOf(done.requestId)).status, "complete");
  const { requestId } = begun;
  let giving: Promise<unknown> | undefined;
  await prisma.$transaction(async (tx) => {
    await tx.upload.updateMany({ where: { requestId }, data: { state: "stored" } });
    giving = assert.rejects(admin.call(api.partUploads.delete, { requestId }), refusedWith("Conflict"));
    await untilBlocking(deps.db, tx);
  });
  await giving;
  assert.equal((await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).state, "awaiting");
});

test("an upload that is given up, or not gone on with, ends, and its bytes go", async () => {
  const [given, silent, kept] = [await begin(large), await begin(large), await begin(large)];
  for (const one of [silent, kept]) await sendParts(large, one, [1]);
  await breakOff(large, given, 1_000_000);
  await admin.call(api.partUploads.delete, { requestId: given.requestId });
  await assert.rejects(admin.call(api.partUploads.get, { requestId: given.requestId }), refusedWith("NotFound"));
  await assert.rejects(sendParts(large, given, [2]), refusedWith("UploadClosed"));
  clock.aheadNs += BigInt(PART_UPLOAD_DAYS) * DAY_NS - DAY_NS;
  await sendParts(large, kept, [2]);
  clock.aheadNs += 2n * DAY_NS;
  await reconcile(deps);
  await assert.rejects(admin.call(api.partUploads.get, { requestId: silent.requestId }), refusedWith("NotFound"));
  assert.equal((await admin.call(api.partUploads.get, { requestId: kept.requestId })).parts.length, 2);
  clock.aheadNs += DAY_NS;
  await reconcile(deps);
  for (const { requestId } of [given, silent]) {
    const { state, blobKey } = await prisma.upload.findFirstOrThrow({ where: { requestId } });
    assert.equal(state, "removed");
    await assert.rejects(deps.blobs.listParts(blobKey));
  }
});

test("an upload is seen by keys of its project with data.upload, and by nobody else", async () => {
  const { requestId } = await begin(large);
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  const piece = { offset: 0, length: 65_536, ...digestOf(large.subarray(0, 65_536)) };
  const keyOf = async (...key: Parameters<typeof cloud.addKey>) => cloud.withToken(await cloud.addKey(...key));
  await assert.rejects(
    (await keyOf(["recordings.list"])).call(api.partUploads.get, { requestId }),
    refusedWith("MissingCapability"),
  );
  for (const client of [await keyOf(["data.upload"], [elsewhere]), await cloud.otherOrganization()])
    for (const call of [
      () => client.call(api.partUploads.get, { requestId }),
      () => client.call(api.partUploads.delete, { requestId }),
      () => client.call(api.partUploads.grantPieces, { requestId, number: 1, pieces: [piece] }),
      () => client.call(api.partUploads.composePart, { requestId, number: 1, ...piece }),
      () => client.call(api.partUploads.complete, { requestId, sha256: sha256(large) }),
    ])
      await assert.rejects(call(), refusedWith("NotFound"));
  assert.equal((await (await keyOf(["data.upload"])).call(api.partUploads.get, { requestId })).requestId, requestId);
});

test("wrong parts are refused, and what does not fit is refused before anything is made", async () => {
  const { requestId, partSize } = await begin(large);
  const grant = (number: number, length: number) =>
    admin.call(api.partUploads.grantParts, {
      requestId,
      parts: [{ number, length, sha256: createHash("sha256").digest("base64") }],
    });
  await assert.rejects(grant(1, partSize - 1), refusedWith(400, /part 1 must hold/));
  await assert.rejects(grant(9999, partSize), refusedWith(400, /part 9999 must hold 0 bytes/));
  const { orgId, projectId } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const before = await prisma.importRequest.count();
  await setQuotas(deps, orgId, { maxStoredBytes: 1n });
  await assert.rejects(
    begin(large, { deviceName: "new", projectId }),
    (error) => error instanceof ApiCallError && error.code === "QuotaReached",
  );
  await setQuotas(deps, orgId, { maxStoredBytes: null });
  assert.equal(await prisma.importRequest.count(), before);
  const site = await admin.call(api.sites.create, { name: "plant", type: "self-hosted" });
  await assert.rejects(
    begin(large, { siteId: site.id, projectId }),
    refusedWith(400, /self-hosted, and takes files by POST/),
  );
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api, type DigestAlgorithm, toDigestFields } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import {
  type CutPiece,
  cutPart,
  cutPiece,
  cutPieces,
  newKey,
  pieceBytes,
  readBlob,
} from "../../store/blobs/testing/pieces.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { type AskedFor, askForFile, recordingItem, sayHello, sha256 } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false }); // nothing finds meanwhile that the bytes are no recording
const { admin } = cloud;

const bytes = randomBytes(3 * pieceBytes + 777);
const pieces = cutPieces(1, bytes);
const digests: DigestAlgorithm[] = ["sha256", "md5"];
const part = { number: 1, ...toDigestFields(cutPart(1, bytes).plan.digest), length: bytes.byteLength };

async function openUpload(deviceName: string) {
  const asked = await askForFile(cloud, deviceName, recordingItem({ size: bytes.byteLength }));
  const upload = await asked.agent.call(api.edge.openUpload, { ...asked.version, digests });
  return { ...asked, upload, at: { requestId: asked.requestId, uploadId: upload.uploadId } };
}

type Opened = Awaited<ReturnType<typeof openUpload>>;

function grant({ agent, at }: Pick<Opened, "agent" | "at">, sent: readonly CutPiece[]) {
  return agent.call(api.edge.grantPieces, { ...at, number: 1, pieces: sent.map(asReported) });
}

function asReported({ plan: { offset, lengthBytes, digest } }: CutPiece) {
  return { offset, length: lengthBytes, ...toDigestFields(digest) };
}

async function send(opened: Opened, sent: readonly CutPiece[]): Promise<void> {
  const { grants } = await grant(opened, sent);
  for (const [index, { url }] of grants.entries()) {
    const { status } = await fetch(url, { method: "PUT", body: new Uint8Array(sent[index]!.bytes) });
    assert.equal(status, 200);
  }
  assert.equal(grants.length, sent.length);
}

async function reopen({ agent, version }: AskedFor) {
  const { pieces: shown } = await agent.call(api.edge.openUpload, { ...version, digests });
  return shown!.held;
}

test("the pieces of a part that were sent are listed when the upload is opened, and the upload goes on from there to the whole file", async () => {
  const opened = await openUpload("piecewise");
  assert.deepEqual(opened.upload.pieces, { minBytes: pieceBytes, held: [] });
  await send(opened, pieces.slice(0, 2));
  const [queued] = await admin.call(api.importQueue.list, { deviceName: "piecewise" });
  assert.equal(queued!.bytesReceived, 2 * pieceBytes);
  const held = pieces.slice(0, 2).map(asReported);
  assert.deepEqual(
    await reopen(opened),
    held.map((piece) => ({ number: 1, ...piece })),
  );
  await assert.rejects(opened.agent.call(api.edge.composePart, { ...opened.at, ...part }), refusedWith("PartsMissing"));
  await send(opened, pieces.slice(2));
  const compose = () => opened.agent.call(api.edge.composePart, { ...opened.at, ...part });
  assert.deepEqual(await compose(), await compose());
  assert.deepEqual(await reopen(opened), []);
  const { number: _, ...whole } = part;
  assert.deepEqual(await grant(opened, pieces.slice(0, 1)), { held: [{ offset: 0, ...whole }], grants: [] });
  await opened.agent.call(api.edge.completeUpload, { ...opened.at, parts: [], sha256: sha256(bytes) });
  const again = await opened.agent.call(api.edge.openUpload, opened.version);
  assert.deepEqual([again.isStored, again.pieces], [true, undefined]);
  const { blobKey } = await cloud.deps.db.prisma.upload.findUniqueOrThrow({ where: { id: opened.at.uploadId } });
  assert.ok(bytes.equals(await readBlob(await cloud.deps.blobs.open(blobKey))));
});

test("an agent that does not know which pieces are held gets no grant, and learns which", async () => {
  const opened = await openUpload("forgetful");
  await send(opened, pieces.slice(0, 1));
  for (const stale of [pieces.slice(0, 2), pieces.slice(2, 3), [pieces[1]!, pieces[3]!]])
    assert.deepEqual(await grant(opened, stale), { held: [asReported(pieces[0]!)], grants: [] });
  assert.equal((await grant(opened, pieces.slice(1))).grants.length, 3);
});

slowTest(
  "pieces that do not make the part are forgotten; a part that is stored with other bytes ends the upload",
  async () => {
    const opened = await openUpload("mixer");
    const { agent, at } = opened;
    await send(opened, cutPieces(1, randomBytes(bytes.byteLength)));
    await assert.rejects(agent.call(api.edge.composePart, { ...at, ...part }), refusedWith("DigestMismatch"));
    assert.deepEqual(await reopen(opened), []);
    await send(opened, pieces);
    await agent.call(api.edge.composePart, { ...at, ...part });
    const other = { ...part, ...toDigestFields(cutPart(1, randomBytes(9)).plan.digest) };
    await assert.rejects(agent.call(api.edge.composePart, { ...at, ...other }), refusedWith("UploadClosed"));
    assert.notEqual((await agent.call(api.edge.openUpload, opened.version)).uploadId, at.uploadId);
  },
);

test("a hostile agent gets no target for pieces that are too short, outside of the part, or of no part", async () => {
  const opened = await openUpload("hostile");
  const tiny = Array.from({ length: 16 }, (_, offset) => cutPiece(1, offset, Buffer.alloc(1)));
  await assert.rejects(grant(opened, tiny), refusedWith("InvalidRequest"));
  await assert.rejects(
    grant(opened, [cutPiece(1, 0, Buffer.alloc(bytes.byteLength + 1))]),
    refusedWith("InvalidRequest"),
  );
  const nowhere = { ...opened.at, number: 2, pieces: [asReported(pieces[0]!)] };
  await assert.rejects(opened.agent.call(api.edge.grantPieces, nowhere), refusedWith("InvalidRequest"));
});

test("nobody else can send pieces: another device, another upload, an agent that lost its lease, or anybody after the request's end", async () => {
  const opened = await openUpload("owner");
  const stranger = await openUpload("stranger");
  const borrowed = { agent: stranger.agent, at: opened.at };
  await assert.rejects(grant(borrowed, pieces.slice(0, 1)), refusedWith("NotFound"));
  await assert.rejects(stranger.agent.call(api.edge.composePart, { ...opened.at, ...part }), refusedWith("NotFound"));
  const mixed = { ...opened, at: { ...opened.at, uploadId: stranger.at.uploadId } };
  await assert.rejects(grant(mixed, pieces.slice(0, 1)), refusedWith("NotFound"));

  const { grants } = await grant(opened, pieces.slice(0, 1));
  const theirs = `${newKey().split("/")[0]}/${stranger.at.uploadId}`;
  const moved = grants[0]!.url.replace(/pieces\/[^?]*/, `pieces/${theirs}/1/0`);
  const refused = await fetch(moved, { method: "PUT", body: new Uint8Array(pieces[0]!.bytes) });
  assert.equal(refused.status, 403);

  const successor = await sayHello(cloud, { ...opened.agent, lease: opened.agent.hello.lease });
  await assert.rejects(grant(opened, pieces.slice(0, 1)), refusedWith("LeaseLost"));
  await assert.rejects(opened.agent.call(api.edge.composePart, { ...opened.at, ...part }), refusedWith("LeaseLost"));
  await send({ ...opened, agent: successor }, pieces.slice(0, 1));
  await admin.call(api.recordings.cancelImport, { keyOrId: opened.recordingId });
  await assert.rejects(grant({ ...opened, agent: successor }, pieces.slice(1)), refusedWith("RequestSuperseded"));
});

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { makeDigest } from "@downlink/protocol";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { PieceRefusedError } from "../blobs/blob-errors.ts";
import type { BlobStore, PiecePlan } from "../blobs/blob-store.ts";
import { type CutPiece, cutPart, cutPieces, newKey, pieceBytes, readBlob } from "../blobs/testing/pieces.ts";
import { serveS3Store } from "./testing/open-s3-store.ts";
import { runCeph, whyNoCeph } from "./testing/run-ceph.ts";

const skip = whyNoCeph();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const ceph = skip === undefined ? stack.use(await runCeph()) : undefined;
// Without a real S3 every test is skipped, and none of these is used.
const place = ceph && { ceph, bucket: await ceph.makeBucket(), db: await openTestDatabase() };

test("pieces go to the bucket itself, are listed as they arrive, and become the part", { skip }, async () => {
  await using open = await openUpload();
  const { store, key, bytes, part, pieces } = open;
  for (const [index, piece] of pieces.entries()) {
    const [grant] = await store.grantPieces(key, [piece.plan]);
    assert(grant!.url.startsWith(ceph!.endpoint));
    assert.equal(await put(grant!, piece.bytes), 200);
    assert.equal(await put(grant!, piece.bytes), 200, "and again");
    assert.deepEqual(await store.listPieces(key), plansOf(pieces.slice(0, index + 1)));
  }
  await Promise.all([store.composePart(key, part.plan), store.composePart(key, part.plan)]);
  assert.deepEqual([await store.listPieces(key), await open.pieceObjects()], [[], []]);
  await store.completeUpload(key, await store.listParts(key));
  assert(bytes.equals(await readBlob(await store.open(key))));
});

test("a link is valid only for the bytes that were granted, in their place", { skip }, async () => {
  await using open = await openUpload();
  const { store, key, pieces } = open;
  const [piece, other] = pieces as [CutPiece, CutPiece];
  const [grant] = await store.grantPieces(key, [piece.plan]);
  assert.equal(await put(grant!, other.bytes), 400);
  assert.equal(await put(grant!, piece.bytes.subarray(1)), 403);
  assert.equal(await put({ ...grant!, headers: {} }, piece.bytes), 403);
  assert.equal(await put({ ...grant!, url: grant!.url.replace(/\/1\.0-/, "/2.0-") }, piece.bytes), 403);
  assert.deepEqual(await store.listPieces(key), []);
});

test("of different pieces for one place, the first that is listed stays, and the other one is removed", {
  skip,
}, async () => {
  await using open = await openUpload();
  const { store, key, pieces, part } = open;
  const first = pieces[0]!;
  const rivals = [first, cutMd5(0, randomBytes(pieceBytes)), cutMd5(0, part.bytes.subarray(0, pieceBytes + 1))];
  const grants = await Promise.all(rivals.map(async ({ plan }) => (await store.grantPieces(key, [plan]))[0]!));
  assert.equal(await put(grants[0]!, first.bytes), 200);
  assert.deepEqual(await store.listPieces(key), [first.plan]);
  for (const [index, { bytes }] of rivals.entries()) assert.equal(await put(grants[index]!, bytes), 200);
  assert.deepEqual(await store.listPieces(key), [first.plan]);
  assert.equal((await open.pieceObjects()).length, 1);
});

test("of different pieces that arrive at the same time, all processes list the same one", { skip }, async () => {
  await using open = await openUpload();
  const { store, key } = open;
  const rivals = [0, 1, 2].map((more) => cutMd5(0, randomBytes(pieceBytes + more)));
  await Promise.all(rivals.map((piece) => send(store, key, piece)));
  const listed = await Promise.all(Array.from({ length: 8 }, () => store.listPieces(key)));
  for (const each of listed) assert.deepEqual(each, listed[0]);
  assert.equal(listed[0]!.length, 1);
  assert.equal((await open.pieceObjects()).length, 1, "which is still there");
});

test("a piece after a gap counts once the gap is filled, and one of a whole part is removed", { skip }, async () => {
  await using open = await openUpload();
  const { store, key, pieces, part } = open;
  const [first, second] = pieces as [CutPiece, CutPiece];
  await send(store, key, second);
  assert.deepEqual(await store.listPieces(key), []);
  await send(store, key, first);
  assert.deepEqual(await store.listPieces(key), plansOf([first, second]));
  await store.receivePart!(
    key,
    part.plan,
    (async function* () {
      yield part.bytes;
    })(),
  );
  await send(store, key, pieces.at(-1)!);
  assert.deepEqual(await store.listPieces(key), []);
  await store.composePart(key, part.plan);
  assert.deepEqual(await open.pieceObjects(), []);
});

test("only a few parts may be in pieces at once", { skip }, async () => {
  await using open = await openUpload(9);
  const { store, key } = open;
  const firstOf = (number: number) => cutMd5(0, randomBytes(pieceBytes), number);
  for (let number = 1; number <= 8; number++) await send(store, key, firstOf(number));
  assert.equal((await store.listPieces(key)).length, 8);
  await assert.rejects(store.grantPieces(key, [firstOf(9).plan]), PieceRefusedError);
});

test("a piece that arrives after the end is listed for the sweep, and removed with the key", { skip }, async () => {
  await using open = await openUpload();
  const { store, key, pieces } = open;
  const [grant] = await store.grantPieces(key, [pieces[0]!.plan]);
  await store.abortUpload(key);
  assert.equal(await put(grant!, pieces[0]!.bytes), 200);
  const [listed, ...others] = await Array.fromAsync(store.list(""));
  assert.deepEqual([listed?.key, listed?.isWhole, listed?.sizeBytes, others], [key, false, pieceBytes, []]);
  await store.delete(key);
  assert.deepEqual(await Array.fromAsync(store.list("")), []);
});

/** Opens an upload of some parts like the first one, which is cut into pieces. */
async function openUpload(parts = 1) {
  const tested = await serveS3Store(place!, { isDirect: true, prefix: `${randomBytes(6).toString("hex")}/` });
  const { store } = tested;
  const [key, bytes] = [newKey(), randomBytes(3 * pieceBytes + 777)];
  await store.createUpload(key, { sizeBytes: parts * bytes.byteLength, partSizeBytes: bytes.byteLength });
  const pieces = cutPieces(1, bytes).map(({ plan, bytes: cut }) => cutMd5(plan.offset, cut));
  const pieceObjects = async () =>
    (await ceph!.readObjects(place!.bucket)).filter((object) => object.key.includes(`_pieces/${key}/`));
  const close = () => tested[Symbol.asyncDispose]();
  return { store, key, bytes, part: cutPart(1, bytes), pieces, pieceObjects, [Symbol.asyncDispose]: close };
}

function cutMd5(offset: number, bytes: Buffer, partNumber = 1): CutPiece {
  const digest = makeDigest("md5", createHash("md5").update(bytes).digest("base64"));
  return { plan: { partNumber, offset, lengthBytes: bytes.byteLength, digest }, bytes };
}

function plansOf(pieces: readonly CutPiece[]): PiecePlan[] {
  return pieces.map(({ plan }) => plan);
}

async function send(store: BlobStore, key: string, { plan, bytes }: CutPiece): Promise<void> {
  const [grant] = await store.grantPieces(key, [plan]);
  assert.equal(await put(grant!, bytes), 200);
}

async function put(grant: { url: string; headers: Record<string, string> }, bytes: Buffer): Promise<number> {
  const { status } = await fetch(grant.url, { method: "PUT", headers: grant.headers, body: new Uint8Array(bytes) });
  return status;
}

async function openTestDatabase() {
  const log = { warn: () => {} };
  return stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
}

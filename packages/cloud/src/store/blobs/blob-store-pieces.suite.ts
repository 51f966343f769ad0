import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { propertyRuns } from "@downlink/recordings/testing";
import {
  DigestMismatchError,
  PartConflictError,
  PartRefusedError,
  PartsMissingError,
  PieceRefusedError,
  UploadClosedError,
} from "./blob-errors.ts";
import type { BlobStore, PiecePlan } from "./blob-store.ts";
import { sendPart } from "./blob-store-uploads.suite.ts";
import {
  type CutPiece,
  cutPart,
  cutPiece,
  cutPieces,
  inPieces,
  newKey,
  pieceBytes,
  readBlob,
} from "./testing/pieces.ts";
import type { Promises, StoreUnderTest } from "./testing/store-under-test.ts";

/** Sends a piece to the target that was granted for it, as every sender does. */
export async function sendPiece(store: BlobStore, key: string, { plan, bytes }: CutPiece): Promise<Response> {
  const [grant] = await store.grantPieces(key, [plan]);
  return fetch(grant!.url, { method: "PUT", headers: grant!.headers, body: new Uint8Array(bytes) });
}

const progress: Promises = {
  "pieces are listed one by one as they are acknowledged, and become the part and the object": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, bytes, part, pieces } = open;
    assert.deepEqual(await store.listPieces(key), []);
    for (const [index, piece] of pieces.entries()) {
      assert.equal((await sendPiece(store, key, piece)).status, 200);
      const shown = pieces.slice(0, index + 1).map(({ plan }) => plan);
      assert.deepEqual(await store.listPieces(key), shown);
      assert.deepEqual(await store.listPieces(key, 1), shown);
      assert.deepEqual(await store.listParts(key), [], "a part counts as a whole only");
    }
    await store.composePart(key, part.plan);
    assert.deepEqual(await store.listPieces(key), []);
    assert.deepEqual(
      (await store.listParts(key)).map(({ number, digest, lengthBytes }) => ({ number, digest, lengthBytes })),
      [part.plan],
    );
    await sendPart(store, key, open.last);
    await store.completeUpload(key, await store.listParts(key));
    assert(bytes.equals(await readBlob(await store.open(key))));
  },

  "createUpload keeps the pieces": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, plan, pieces } = open;
    await sendPiece(store, key, pieces[0]!);
    await store.createUpload(key, plan);
    assert.deepEqual(await store.listPieces(key), [pieces[0]!.plan]);
  },

  "a piece may be sent again, also at the same time; other bytes or another length in its place are refused": async (
    tested,
  ) => {
    const open = await openUpload(tested);
    const { store, key, part, pieces } = open;
    const first = pieces[0]!;
    for (const { status } of await Promise.all([first, first, first].map((piece) => sendPiece(store, key, piece))))
      assert.equal(status, 200);
    for (const other of [randomBytes(pieceBytes), part.bytes.subarray(0, pieceBytes + 1)])
      assert.equal((await sendPiece(store, key, cutPiece(1, 0, other))).status, 409);
    assert.deepEqual(await store.listPieces(key), [first.plan]);
  },

  "what came of a part or piece before its sender broke off is held where its grant says so, if it is a piece's length":
    async (tested) => {
      const { store, key, bytes, part, pieces, last } = await openUpload(tested);
      const keeping = { ...part.plan, keepsBeginning: true };
      await assert.rejects(store.receivePart!(key, part.plan, breakOff(part.bytes, pieceBytes + 5)), /broke off/);
      await assert.rejects(store.receivePart!(key, keeping, breakOff(part.bytes, pieceBytes - 1)), /broke off/);
      assert.deepEqual(await store.listPieces(key), []);
      await assert.rejects(store.receivePart!(key, keeping, breakOff(part.bytes, pieceBytes + 5)), /broke off/);
      const first = cutPiece(1, 0, part.bytes.subarray(0, pieceBytes + 5));
      assert.deepEqual(await store.listPieces(key), [first.plan]);
      const rest = cutPiece(1, pieceBytes + 5, part.bytes.subarray(pieceBytes + 5));
      const keepingRest = { ...rest.plan, keepsBeginning: true };
      await assert.rejects(store.receivePiece!(key, keepingRest, breakOff(rest.bytes, pieceBytes)), /broke off/);
      const second = cutPiece(1, pieceBytes + 5, rest.bytes.subarray(0, pieceBytes));
      assert.deepEqual(await store.listPieces(key), [first.plan, second.plan]);
      await assert.rejects(
        store.receivePart!(key, keeping, breakOff(randomBytes(pieceBytes), pieceBytes)),
        /broke off/,
      );
      assert.equal((await store.listPieces(key)).length, 2, "what is held stays");
      const end = 2 * pieceBytes + 5;
      assert.equal((await sendPiece(store, key, cutPiece(1, end, part.bytes.subarray(end)))).status, 200);
      await store.composePart(key, part.plan);
      assert.deepEqual([await store.listPieces(key), pieces.length], [[], 4]);
      await sendPart(store, key, last);
      await store.completeUpload(key, await store.listParts(key));
      assert(bytes.equals(await readBlob(await store.open(key))));
    },

  "of two that send different bytes for one place at the same time, one is acknowledged and stays": async (tested) => {
    for (let round = 0; round < propertyRuns(10); round++) {
      const open = await openUpload(tested);
      const { store, key } = open;
      const rivals = [0, 1, 2].map((more) => cutPiece(1, 0, randomBytes(pieceBytes + more)));
      const answers = await Promise.all(rivals.map((piece) => sendPiece(store, key, piece)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
      const winner = answers.findIndex(({ status }) => status === 200);
      assert.deepEqual(await store.listPieces(key), [rivals[winner]!.plan]);
    }
  },
};

/** Yields the first bytes, and then fails as the body of a request whose sender is gone. */
async function* breakOff(bytes: Uint8Array, count: number): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes.subarray(0, count));
  throw new Error("the sender broke off");
}

const composition: Promises = {
  "a part is made of all its pieces only, repeatably, also at the same time": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, part, pieces } = open;
    await assert.rejects(store.composePart(key, part.plan), PartsMissingError);
    for (const piece of pieces.slice(0, -1)) await sendPiece(store, key, piece);
    await assert.rejects(store.composePart(key, part.plan), PartsMissingError);
    await sendPiece(store, key, pieces.at(-1)!);
    await Promise.all([store.composePart(key, part.plan), store.composePart(key, part.plan)]);
    await store.composePart(key, part.plan);
    assert.equal((await store.listParts(key)).length, 1);
    await assert.rejects(
      store.composePart(key, cutPart(1, randomBytes(part.bytes.byteLength)).plan),
      PartConflictError,
    );
  },

  "pieces that do not make the stated part are removed, and the part may be sent again": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, bytes, part } = open;
    const mixed = Buffer.from(part.bytes);
    mixed[pieceBytes + 1]! ^= 1;
    for (const piece of cutPieces(1, mixed)) await sendPiece(store, key, piece);
    await assert.rejects(store.composePart(key, part.plan), DigestMismatchError);
    assert.deepEqual([await store.listPieces(key), await store.listParts(key)], [[], []]);
    for (const piece of open.pieces) assert.equal((await sendPiece(store, key, piece)).status, 200);
    await store.composePart(key, part.plan);
    await sendPart(store, key, open.last);
    await store.completeUpload(key, await store.listParts(key));
    assert(bytes.equals(await readBlob(await store.open(key))));
  },

  "a part that came whole counts whatever pieces of it there are, and takes none from then on": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, part, pieces } = open;
    await sendPiece(store, key, cutPiece(1, 0, randomBytes(pieceBytes)));
    assert.equal((await sendPart(store, key, part)).status, 200);
    assert.deepEqual(await store.listPieces(key), []);
    assert.equal((await sendPiece(store, key, pieces[0]!)).status, 409);
    await store.composePart(key, part.plan);
  },
};

const hostilePieces: Promises = {
  "a piece is refused that leaves a gap, overlaps, reaches out of its part, is empty or too short": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, part, pieces } = open;
    const { plan } = pieces[1]!;
    await sendPiece(store, key, pieces[0]!);
    for (const offset of [2 * pieceBytes, pieceBytes - 1, pieceBytes + 1]) {
      const sent = cutPiece(1, offset, part.bytes.subarray(offset, offset + pieceBytes));
      assert.equal((await sendPiece(store, key, sent)).status, 409, `at ${offset}`);
    }
    const refused: Partial<PiecePlan>[] = [
      { lengthBytes: 0 },
      { lengthBytes: -1 },
      { lengthBytes: pieceBytes - 1 },
      { lengthBytes: part.bytes.byteLength },
      { lengthBytes: 1.5 },
      { lengthBytes: Number.MAX_SAFE_INTEGER },
      { offset: -1 },
      { offset: part.bytes.byteLength },
      { offset: Number.NaN },
    ];
    for (const wrong of refused)
      await assert.rejects(store.grantPieces(key, [{ ...plan, ...wrong }]), PieceRefusedError, JSON.stringify(wrong));
    for (const partNumber of [0, 3, 1.5])
      await assert.rejects(store.grantPieces(key, [{ ...plan, partNumber }]), PartRefusedError, `part ${partNumber}`);
    assert.deepEqual(await store.listPieces(key), [pieces[0]!.plan]);
  },

  "a piece whose bytes are not those announced is refused and does not count": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, pieces } = open;
    const [piece] = pieces;
    const flipped = Buffer.from(piece!.bytes);
    flipped[flipped.byteLength >> 1]! ^= 1;
    for (const bytes of [flipped, piece!.bytes.subarray(1), Buffer.concat([piece!.bytes, Buffer.alloc(1)])])
      assert.notEqual((await sendPiece(store, key, { plan: piece!.plan, bytes })).status, 200);
    assert.deepEqual(await store.listPieces(key), []);
    assert.equal((await sendPiece(store, key, piece!)).status, 200);
  },

  "only a few parts may be in pieces at once; one more may be when one of them is whole": async (tested) => {
    const { store } = tested;
    const [key, partSizeBytes] = [newKey(), 2 * pieceBytes];
    const parts = Array.from({ length: 9 }, (_, index) => cutPart(index + 1, randomBytes(partSizeBytes)));
    await store.createUpload(key, { sizeBytes: 9 * partSizeBytes, partSizeBytes });
    const halves = parts.map(({ plan, bytes }) => cutPieces(plan.number, bytes));
    for (const [first] of halves.slice(0, 8)) assert.equal((await sendPiece(store, key, first!)).status, 200);
    assert.equal((await sendPiece(store, key, halves[8]![0]!)).status, 400);
    await sendPiece(store, key, halves[3]![1]!);
    await store.composePart(key, parts[3]!.plan);
    assert.equal((await sendPiece(store, key, halves[8]![0]!)).status, 200);
  },
};

const ends: Promises = {
  "where no upload is open there are no pieces: never made, aborted, deleted or completed": {
    async inEmptyStore(tested) {
      const open = await openUpload(tested);
      const { store, key, plan, part, pieces } = open;
      const refuseAll = async (closed: string) => {
        await assert.rejects(store.listPieces(closed), UploadClosedError);
        await assert.rejects(store.grantPieces(closed, [pieces[0]!.plan]), UploadClosedError);
        await assert.rejects(store.composePart(closed, part.plan), UploadClosedError);
      };
      await refuseAll(newKey());
      for (const end of [store.abortUpload, store.delete]) {
        await store.createUpload(key, plan);
        const [grant] = await store.grantPieces(key, [pieces[1]!.plan]);
        await sendPiece(store, key, pieces[0]!);
        await end(key);
        await refuseAll(key);
        const late = await fetch(grant!.url, { method: "PUT", body: new Uint8Array(pieces[1]!.bytes) });
        assert.equal(late.status, 409);
        assert.deepEqual(await Array.fromAsync(store.list("")), [], "nothing is left of it");
        await store.createUpload(key, plan);
        assert.deepEqual(await store.listPieces(key), []);
      }
      for (const each of [part, open.last]) await sendPart(store, key, each);
      await store.completeUpload(key, await store.listParts(key));
      await refuseAll(key);
    },
  },

  "pieces of an upload that was given up are listed with it, for the sweep": {
    async inEmptyStore(tested) {
      const open = await openUpload(tested);
      const { store, key, pieces } = open;
      await sendPiece(store, key, pieces[0]!);
      const [listed, ...others] = await Array.fromAsync(store.list(""));
      assert.deepEqual([listed?.key, listed?.isWhole, others], [key, false, []]);
      assert(listed!.sizeBytes >= pieceBytes);
    },
  },
};

/** Creates an open upload of two parts, the first of which is cut into pieces. */
async function openUpload(tested: StoreUnderTest) {
  const key = newKey();
  const partSizeBytes = 3 * pieceBytes + 777;
  const bytes = randomBytes(partSizeBytes + 1234);
  const plan = { sizeBytes: bytes.byteLength, partSizeBytes };
  await tested.store.createUpload(key, plan);
  const part = cutPart(1, bytes.subarray(0, partSizeBytes));
  return {
    store: tested.store,
    key,
    bytes,
    plan,
    part,
    last: cutPart(2, bytes.subarray(partSizeBytes)),
    pieces: cutPieces(1, part.bytes),
  };
}

/** The promises that every blob store keeps for parts that come in pieces. */
export const pieces: Promises = { ...progress, ...composition, ...hostilePieces, ...ends };

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { DigestMismatchError, PieceConflictError, UploadClosedError } from "./blob-errors.ts";
import { filesOf, pieceJournalFile } from "./file-layout.ts";
import { openFileStore } from "./file-store.ts";
import { sealLine } from "./journal-lines.ts";
import { testClock, testSigner } from "./testing/open-file-store.ts";
import { cutParts, cutPiece, cutPieces, inPieces, newKey, pieceBytes, readBlob } from "./testing/pieces.ts";

const partBytes = 4 * pieceBytes + 777;
const bytes = randomBytes(partBytes + 99);
const [part, last] = cutParts(bytes, partBytes);
const pieces = cutPieces(1, part!.bytes);
const plan = { sizeBytes: bytes.byteLength, partSizeBytes: partBytes };

const directory = await mkdtemp(join(tmpdir(), "file-store-pieces-"));
const store = await openFileStore({ directory, signer: testSigner, clock: testClock, publicUrl: () => "" });
after(() => rm(directory, { recursive: true }));

slowTest(
  "a journal of pieces torn at any byte loses at most its last ones, and what is sent after it counts",
  async () => {
    const { key, journal } = await openUpload(3);
    const whole = await readFile(journal);
    const tears = fc.tuple(fc.integer({ min: 0, max: whole.byteLength }), fc.uint8Array({ maxLength: 30 }));
    await fc.assert(
      fc.asyncProperty(tears, async ([keptBytes, garbage]) => {
        await writeFile(journal, Buffer.concat([whole.subarray(0, keptBytes), garbage]));
        const survivors = await store.listPieces(key);
        assert.deepEqual(
          survivors,
          pieces.slice(0, survivors.length).map((piece) => piece.plan),
        );
        if (keptBytes === whole.byteLength) assert.equal(survivors.length, 3);
        await receive(key, pieces.slice(survivors.length, survivors.length + 1));
        assert.equal((await store.listPieces(key)).length, survivors.length + 1);
      }),
      { numRuns: 60 },
    );
    await finish(key);
  },
);

test("bytes that were written without their line do not count, are sent again, and are removed with the upload", async () => {
  const { key, files, journal, names } = await openUpload(2);
  const lines = await readFile(journal);
  await receive(key, pieces.slice(2, 3));
  await writeFile(journal, lines);
  assert.equal((await store.listPieces(key)).length, 2);
  await finish(key);
  assert.deepEqual(await names(), []);
  assert.equal((await stat(files.object)).size, bytes.byteLength);
});

test("a line whose file never became durable does not count once that is known, and neither do the lines after it", async () => {
  const { key, journal } = await openUpload(3);
  const [, second] = (await readFile(journal, "latin1")).split("\n").filter((line) => line !== "");
  await appendFile(journal, sealLine(`void ${second!.split(" ").at(-2)}`));
  assert.deepEqual(await store.listPieces(key), [pieces[0]!.plan]);
  await finish(key);
});

test("the next composition makes good a crash before or after any step of an earlier one", async (t) => {
  const crashes: Record<string, (scene: Awaited<ReturnType<typeof openUpload>>) => Promise<void>> = {
    "the part is taken": ({ files }) => appendFile(files.journal, take),
    "its bytes are half written": async ({ files }) => {
      await appendFile(files.journal, take);
      await writeFile(files.partial, part!.bytes.subarray(0, 1000));
    },
    "it is kept, and its pieces are still there": async ({ key, files, journal }) => {
      await copyFile(journal, `${directory}/journal`);
      await store.receivePart(key, part!.plan, inPieces(part!.bytes));
      await copyFile(`${directory}/journal`, pieceJournalFile(files, 1));
    },
    "some of its pieces are gone": async ({ key, files, names }) => {
      await store.receivePart(key, part!.plan, inPieces(part!.bytes));
      const [first] = (await names()).filter((name) => name.endsWith(".piece"));
      await rm(join(files.directory, first!));
    },
  };
  const take = sealLine(`take 1 ${part!.plan.digest} ${part!.plan.lengthBytes}`);
  for (const [step, crash] of Object.entries(crashes))
    await t.test(step, async () => {
      const scene = await openUpload(pieces.length);
      await crash(scene);
      await store.composePart(scene.key, part!.plan);
      assert.deepEqual(
        (await scene.names()).filter((name) => name.includes(".piece")),
        [],
      );
      await store.receivePart(scene.key, last!.plan, inPieces(last!.bytes));
      await store.completeUpload(scene.key, await store.listParts(scene.key));
      assert(bytes.equals(await readBlob(await store.open(scene.key))));
    });
});

test("a piece whose file was damaged or lost on the disk is never part of an object: the part is sent again", async () => {
  for (const damage of ["flipped", "shortened", "lost"]) {
    const { key, files, names } = await openUpload(pieces.length);
    const [name] = (await names()).filter((each) => each.endsWith(".piece"));
    const path = join(files.directory, name!);
    if (damage === "flipped") await writeFile(path, randomBytes((await stat(path)).size));
    if (damage === "shortened") await truncate(path, 10);
    if (damage === "lost") await rm(path);
    await assert.rejects(store.composePart(key, part!.plan), DigestMismatchError, damage);
    assert.deepEqual(await store.listPieces(key), []);
    await finish(key);
  }
});

test("a piece that comes while the pieces of its part are given up is not acknowledged", async () => {
  const { key, journal } = await openUpload(1);
  const received = store.receivePiece(
    key,
    pieces[1]!.plan,
    breakOff(pieces[1]!.bytes, () => rm(journal)),
  );
  await assert.rejects(received, PieceConflictError);
  assert.deepEqual(await store.listPieces(key), []);
  await finish(key);
});

test("a piece that comes while its upload ends is not acknowledged, and nothing of it is left", async () => {
  const { key, names } = await openUpload(1);
  const received = store.receivePiece(
    key,
    pieces[1]!.plan,
    breakOff(pieces[1]!.bytes, () => store.abortUpload(key)),
  );
  await assert.rejects(received, UploadClosedError);
  assert.deepEqual(await names(), []);
});

test("a part has no more pieces than a short journal holds, however large it is", async () => {
  const key = newKey();
  const partSizeBytes = 2 ** 40;
  await store.createUpload(key, { sizeBytes: 2 * partSizeBytes, partSizeBytes });
  const short = cutPiece(1, 0, Buffer.alloc(1024 * 1024));
  await assert.rejects(store.grantPieces(key, [short.plan]), /has 536870912 bytes at least/);
  await assert.rejects(store.receivePiece(key, short.plan, inPieces(short.bytes)), /has 536870912 bytes at least/);
});

test("pieces that go wrong leave nothing behind", async () => {
  const { key, names } = await openUpload(1);
  const before = (await names()).sort();
  const broken = cutPiece(1, pieceBytes, pieces[1]!.bytes);
  await assert.rejects(store.receivePiece(key, broken.plan, inPieces(randomBytes(pieceBytes))), DigestMismatchError);
  await assert.rejects(store.receivePiece(key, broken.plan, inPieces(broken.bytes.subarray(1))), DigestMismatchError);
  assert.deepEqual((await names()).sort(), before);
});

async function openUpload(count = 0) {
  const key = newKey();
  const files = filesOf(directory, key);
  await store.createUpload(key, plan);
  await receive(key, pieces.slice(0, count));
  const names = async () => (await readdir(files.directory)).filter((name) => name.startsWith(`${files.name}.`));
  return { key, files, journal: pieceJournalFile(files, 1), names };
}

async function receive(key: string, sent: typeof pieces): Promise<void> {
  for (const piece of sent) await store.receivePiece(key, piece.plan, inPieces(piece.bytes));
}

/** Finishes the upload as a sender does after it has learnt what is there. */
async function finish(key: string): Promise<void> {
  const held = await store.listPieces(key, 1);
  await receive(key, pieces.slice(held.length));
  await store.composePart(key, part!.plan);
  await store.receivePart(key, last!.plan, inPieces(last!.bytes));
  await store.completeUpload(key, await store.listParts(key));
  assert(bytes.equals(await readBlob(await store.open(key))));
}

/** Yields the bytes, and calls `act` before the last of them. */
async function* breakOff(sent: Buffer, act: () => Promise<unknown>): AsyncGenerator<Uint8Array, void> {
  yield sent.subarray(0, -1);
  await act();
  yield sent.subarray(-1);
}

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { BlobExistsError, BlobNotFoundError, BlobTooLargeError, DigestMismatchError } from "./blob-errors.ts";
import type { BlobStore } from "./blob-store.ts";
import { notes } from "./blob-store-notes.suite.ts";
import { pieces } from "./blob-store-pieces.suite.ts";
import { uploads } from "./blob-store-uploads.suite.ts";
import { digest, inPieces, newKey, readAll, readBlob, thenSilence } from "./testing/pieces.ts";
import type { Promises, StoreUnderTest } from "./testing/store-under-test.ts";

/** As a socket gives them. */
const PIECE_BYTES = 64 * 1024;

const objects: Promises = {
  "put stores a stream in pieces of any size and returns its length and SHA-256": async (tested) => {
    const inputs = fc.tuple(fc.uint8Array({ maxLength: 5000 }), fc.integer({ min: 1, max: 3000 }));
    await fc.assert(
      fc.asyncProperty(inputs, async ([bytes, pieceBytes]) => {
        const key = newKey();
        const written = await tested.store.put(key, inPieces(bytes, pieceBytes));
        assert.deepEqual(written, { sizeBytes: bytes.byteLength, sha256: digest("sha256", bytes, "hex") });
        assert.deepEqual(await readBlob(await tested.store.open(key)), Buffer.from(bytes));
      }),
      { numRuns: 20 },
    );
  },

  "put stores a stream of many blocks": async (tested) => {
    const [key, bytes] = [newKey(), randomBytes(9 * 1024 * 1024 + 17)];
    const { sha256 } = await tested.store.put(key, inPieces(bytes, 700_001), { expectedBytes: bytes.byteLength });
    assert.equal(sha256, digest("sha256", bytes, "hex"));
    assert(bytes.equals(await readBlob(await tested.store.open(key))));
  },

  "put stores zeros like other bytes, wherever they stand": async (tested) => {
    const MiB = 1024 * 1024;
    const random = randomBytes(3 * MiB + 17);
    for (const [start, end] of [
      [0, 3 * MiB],
      [0, 2 * MiB],
      [MiB, 2 * MiB],
      [MiB + 5, 3 * MiB + 17],
      [0, 3 * MiB + 17],
    ] as const) {
      const [key, bytes] = [newKey(), Buffer.from(random).fill(0, start, end)];
      const { sha256 } = await tested.store.put(key, inPieces(bytes, 100_000), { expectedBytes: bytes.byteLength });
      assert.equal(sha256, digest("sha256", bytes, "hex"));
      assert(bytes.equals(await readBlob(await tested.store.open(key))), `zeros from ${start} to ${end}`);
    }
  },

  "stat returns the size, the time and one tag for each object, and nothing for an object that does not exist": async (
    tested,
  ) => {
    const [key, other] = [newKey(), newKey()];
    assert.equal(await tested.store.stat(key), undefined);
    for (const each of [key, other]) await tested.store.put(each, inPieces(Buffer.from("same bytes")));
    const [first, again, second] = [
      await tested.store.stat(key),
      await tested.store.stat(key),
      await tested.store.stat(other),
    ];
    assert.equal(first?.sizeBytes, 10);
    assert(Math.abs(first!.modifiedAtMs - Date.now()) < 60_000);
    assert.deepEqual(again, first);
    assert.notEqual(second?.etag, first?.etag);
    assert.match(first!.etag, /^[\x21\x23-\x7e]+$/);
  },

  "delete removes an object, and is harmless where there is none": async (tested) => {
    const key = newKey();
    await tested.store.delete(key);
    await tested.store.put(key, inPieces(Buffer.from("x")));
    await tested.store.delete(key);
    await tested.store.delete(key);
    assert.equal(await tested.store.stat(key), undefined);
    await assert.rejects(tested.store.open(key), BlobNotFoundError);
  },

  "list names every object and every unfinished upload once, by the beginning of its key": {
    async inEmptyStore(tested) {
      const [object, unfinished, foreign] = [newKey("org_a"), newKey("org_a"), newKey("org_b")];
      await tested.store.put(object, inPieces(Buffer.alloc(321)));
      await tested.store.createUpload(unfinished, { sizeBytes: 10, partSizeBytes: tested.partSizeBytes });
      await tested.store.put(foreign, inPieces(Buffer.alloc(1)));
      const listed = await Array.fromAsync(tested.store.list("org_a/"));
      assert.deepEqual(listed.map(({ key }) => key).sort(), [object, unfinished].sort());
      assert.equal(listed.find(({ key }) => key === object)?.sizeBytes, 321);
      for (const { key, isWhole } of listed) assert.equal(isWhole, key === object);
      for (const { modifiedAtMs } of listed) assert(Math.abs(modifiedAtMs - Date.now()) < 60_000);
      assert.equal((await Array.fromAsync(tested.store.list(""))).length, 3);
    },
  },
};

const stored = randomBytes(700_000);

const reading: Promises = {
  "any stretch can be read, and streamed, exactly": async (tested) => {
    await using reader = await openObject(tested.store);
    assert.equal(reader.sizeBytes, stored.byteLength);
    const places = fc
      .tuple(fc.nat(stored.byteLength), fc.nat(stored.byteLength))
      .map((ends) => ends.sort((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(places, async ([start, end]) => {
        const expected = stored.subarray(start, end);
        assert(expected.equals(await reader.read(start!, end! - start!)));
        if (end! > start!)
          assert(expected.equals(await readAll(reader.stream({ start: start!, endInclusive: end! - 1 }))));
      }),
      { numRuns: 20 },
    );
    assert(stored.equals(await readAll(reader.stream())));
  },

  "an object that is opened for its end is read like any other, however large it is": async (tested) => {
    for (const sizeBytes of [0, 1, 1000, stored.byteLength]) {
      const [key, bytes] = [newKey(), stored.subarray(0, sizeBytes)];
      await tested.store.put(key, inPieces(bytes, 100_000));
      await using reader = await tested.store.open(key, { endBytes: 1000 });
      assert.equal(reader.sizeBytes, sizeBytes);
      for (const length of [0, 1, 500, 1000, 1001, 100_000].filter((most) => most <= sizeBytes)) {
        const offset = sizeBytes - length;
        assert(bytes.subarray(offset).equals(await reader.read(offset, length)));
        assert(bytes.subarray(offset, offset + 1).equals(await reader.read(offset, Math.min(length, 1))));
      }
      await assert.rejects(reader.read(sizeBytes, 1), RangeError);
      assert(bytes.equals(await readAll(reader.stream())));
    }
    await assert.rejects(tested.store.open(newKey(), { endBytes: 1000 }), BlobNotFoundError);
  },

  "a read outside of the object is a RangeError": async (tested) => {
    await using reader = await openObject(tested.store);
    for (const [offset, length] of [
      [-1, 1],
      [0, stored.byteLength + 1],
      [stored.byteLength, 1],
      [0.5, 1],
      [0, -1],
    ] as const)
      await assert.rejects(reader.read(offset, length), RangeError, `${offset}, ${length}`);
  },

  "an aborted stream stops with the reason": async (tested) => {
    await using reader = await openObject(tested.store);
    const controller = new AbortController();
    const pieces = reader.stream(undefined, controller.signal)[Symbol.asyncIterator]();
    await pieces.next();
    controller.abort(new Error("receiver gone"));
    await assert.rejects(pieces.next(), /receiver gone/);
  },
};

const refusals: Promises = {
  "a key that no server made is refused by every verb": async (tested) => {
    const { store } = tested;
    const wrong = [
      "",
      ".",
      "..",
      "../a",
      "/a",
      "a/",
      "a//b",
      "a.b",
      "A",
      "a b",
      "a\0",
      "a+b",
      "ä",
      "a".repeat(65),
      "a/b/c/d",
    ];
    for (const key of wrong) {
      await assert.rejects(async () => store.put(key, inPieces(Buffer.alloc(1))), TypeError, key);
      await assert.rejects(async () => store.open(key), TypeError, key);
      await assert.rejects(async () => store.delete(key), TypeError, key);
      await assert.rejects(async () => store.createUpload(key, { sizeBytes: 1, partSizeBytes: 1 }), TypeError, key);
    }
  },

  "put never overwrites": async (tested) => {
    const key = newKey();
    await tested.store.put(key, inPieces(Buffer.from("first")));
    await assert.rejects(tested.store.put(key, inPieces(Buffer.from("other"))), BlobExistsError);
    assert.equal((await readBlob(await tested.store.open(key))).toString(), "first");
  },

  "of puts of one key at the same time exactly one stores its bytes": async (tested) => {
    const key = newKey();
    const bodies = Array.from({ length: 5 }, () => randomBytes(200_000));
    const results = await Promise.allSettled(bodies.map((body) => tested.store.put(key, inPieces(body))));
    const won = results.findIndex(({ status }) => status === "fulfilled");
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    assert(bodies[won]!.equals(await readBlob(await tested.store.open(key))));
  },

  "a put that fails leaves nothing behind": {
    async inEmptyStore(tested) {
      const { store } = tested;
      const key = newKey();
      const bytes = randomBytes(2_500_000);
      await assert.rejects(store.put(key, broken(bytes)), /connection reset/);
      for (const expectedBytes of [1, bytes.byteLength + 1])
        await assert.rejects(store.put(key, inPieces(bytes, PIECE_BYTES), { expectedBytes }), DigestMismatchError);
      await assert.rejects(
        store.put(key, inPieces(bytes, PIECE_BYTES), { maxBytes: bytes.byteLength - 1 }),
        BlobTooLargeError,
      );
      const controller = new AbortController();
      const body = thenSilence(bytes, () => controller.abort(new Error("caller left")), PIECE_BYTES);
      await assert.rejects(store.put(key, body, { signal: controller.signal }), /caller left/);
      assert.equal(await store.stat(key), undefined);
      assert.deepEqual(await Array.fromAsync(store.list("")), []);
      await store.put(key, inPieces(bytes, PIECE_BYTES), {
        expectedBytes: bytes.byteLength,
        maxBytes: bytes.byteLength,
      });
    },
  },
};

async function openObject(store: BlobStore) {
  const key = newKey();
  await store.put(key, inPieces(stored, 100_000));
  return store.open(key);
}

async function* broken(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield* inPieces(bytes, PIECE_BYTES);
  throw new Error("connection reset");
}

const suites: Record<string, Promises> = { objects, reading, refusals, uploads, "parts in pieces": pieces, notes };

/** The promises of one suite share a store, in which each has keys of its own; one about all that a store has gets an empty one. */
export function describeBlobStore(name: string, openStore: () => Promise<StoreUnderTest>): void {
  for (const [about, promises] of Object.entries(suites))
    describe(`${name}: ${about}`, () => {
      const stack = new AsyncDisposableStack();
      after(() => stack.disposeAsync());
      let opening: Promise<StoreUnderTest> | undefined;
      const share = () => {
        opening ??= openStore().then((opened) => stack.use(opened));
        return opening;
      };
      for (const [promise, keep] of Object.entries(promises))
        test(promise, async () => {
          if (typeof keep === "function") return await keep(await share());
          await using tested = await openStore();
          return await keep.inEmptyStore(tested);
        });
    });
}

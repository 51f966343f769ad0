import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { createLinkSigner } from "../../core/signed-link.ts";
import { type FileStore, openFileStore } from "../../store/blobs/file-store.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { completeUpload, openUpload } from "./agent-uploads.ts";
import {
  beginFile,
  findReceived,
  keepFile,
  listUnreported,
  noteReported,
  type Received,
  recoverFiles,
  removeFile,
  reportAllAgain,
} from "./received-files.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const bytes = Buffer.from("the file");

async function openStore(): Promise<FileStore> {
  const directory = await mkdtemp(join(tmpdir(), "downlink-received-"));
  stack.defer(() => rm(directory, { recursive: true }));
  const signer = createLinkSigner(["x".repeat(32)]);
  return openFileStore({ directory, signer, publicUrl: () => "", clock: createStoppedClock(0n) });
}

class KilledError extends Error {}

/** Lets so many changes of the store through; at the next one the process is dead. */
function killAt(store: FileStore, step: number): FileStore {
  let left = step;
  const dying =
    <A extends unknown[], R>(change: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (left === 0) throw new KilledError();
      left -= 1;
      return change(...args);
    };
  const { put, putNote, removeNote } = store;
  return {
    ...store,
    put: dying(put),
    putNote: dying(putNote),
    removeNote: dying(removeNote),
    completeUpload: dying(store.completeUpload),
    delete: dying(store.delete),
  };
}

async function receive(store: FileStore, requestId: string): Promise<Received> {
  const key = await beginFile(store, { orgId: "org_1", requestId });
  await store.put(key, piecesOf(bytes));
  const received = { requestId, key, sizeBytes: bytes.byteLength };
  assert.ok(await keepFile(store, received));
  return received;
}

async function* piecesOf(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

async function contentsOf(store: FileStore) {
  const keys: string[] = [];
  const notes: string[] = [];
  for await (const { key } of store.list("")) keys.push(key);
  for (const kind of ["begun/", "completing/", "received/", "unreported/"])
    for await (const { key } of store.listNotes(kind)) notes.push(key.split("/")[0]!);
  return { keys, notes };
}

test("killed at each durable step, a site that starts again has the whole file and reports it, or nothing", async () => {
  const outcomes: string[] = [];
  for (let step = 0; ; step++) {
    const store = await openStore();
    const killed = await receive(killAt(store, step), "req_1").then(
      () => false,
      (error: unknown) => {
        assert.ok(error instanceof KilledError);
        return true;
      },
    );
    await recoverFiles(store);
    await recoverFiles(store); // killed again right after it
    const { keys, notes } = await contentsOf(store);
    const received = await findReceived(store, "req_1");
    if (received) assert.deepEqual([keys, notes], [[received.key], ["received", "unreported"]]);
    else assert.deepEqual([keys, notes], [[], []]);
    outcomes.push(received ? "whole" : "nothing");
    if (!killed) break;
  }
  assert.deepEqual(outcomes, ["nothing", "nothing", "nothing", "whole", "whole", "whole"]);
});

slowTest("killed at each step of the recovery, the next one ends it", async () => {
  for (let upTo = 0; upTo < 6; upTo++)
    for (let step = 0; step < 4; step++) {
      const store = await openStore();
      await receive(killAt(store, upTo), "req_1").catch(() => {});
      await recoverFiles(killAt(store, step)).catch(() => {});
      await recoverFiles(store);
      const { keys, notes } = await contentsOf(store);
      assert.ok(keys.length === 0 ? notes.length === 0 : notes.join() === "received,unreported", `${upTo} ${step}`);
    }
});

test("of two files of one request the first whole one stays, and the other is removed at once", async () => {
  const store = await openStore();
  const [one, other] = await Promise.all(
    ["org_1", "org_1"].map((orgId) => beginFile(store, { orgId, requestId: "req_1" })),
  );
  for (const key of [one!, other!]) await store.put(key, piecesOf(bytes));
  const kept = await Promise.all(
    [one!, other!].map((key) => keepFile(store, { requestId: "req_1", key, sizeBytes: bytes.byteLength })),
  );
  assert.deepEqual(kept.toSorted(), [false, true]);
  const received = await findReceived(store, "req_1");
  assert.deepEqual(await contentsOf(store), { keys: [received!.key], notes: ["received", "unreported"] });
});

test("a reported file is listed no more, until everything is reported again", async () => {
  const store = await openStore();
  const received = await receive(store, "req_1");
  const listed = () => Array.fromAsync(listUnreported(store));
  assert.deepEqual(await listed(), [received]);
  await noteReported(store, received!);
  assert.deepEqual(await listed(), []);
  await reportAllAgain(store);
  await reportAllAgain(store);
  assert.deepEqual(await listed(), [received]);
});

test("killed at each step of a removal, the same removal ends it; another object of the request stays", async () => {
  for (let step = 0; step < 5; step++) {
    const store = await openStore();
    const received = await receive(store, "req_1");
    const indexKey = received.key.replace("upl_", "idx_");
    await store.put(indexKey, piecesOf(bytes));
    await removeFile(store, { ...received, key: "org_1/upl_other", indexKey: "org_1/idx_other" });
    assert.deepEqual(await findReceived(store, "req_1"), received);
    await removeFile(killAt(store, step), { ...received, indexKey }).catch(() => {});
    await removeFile(store, { ...received, indexKey });
    assert.deepEqual(await contentsOf(store), { keys: [], notes: [] });
  }
});

test("killed at each step of the completion of an upload in parts, a repeat ends it, whether or not the site started again", async () => {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  let killed = true;
  for (let step = 0; killed; step++)
    for (const startsAgain of [true, false]) {
      const store = await openStore();
      const upload = await sendParts(store);
      const { id, key, requestId } = upload;
      killed = false;
      await completeUpload({ blobs: killAt(store, step), upload }, { uploadId: id, parts: [], sha256 }).catch(() => {
        killed = true;
      });
      if (startsAgain) await recoverFiles(killAt(store, step)).catch(() => {});
      if (startsAgain) await recoverFiles(store);
      const { isStored } = await openUpload({ blobs: store, upload }, { digests: ["sha256"] });
      if (!isStored) await completeUpload({ blobs: store, upload }, { uploadId: id, parts: [], sha256 });
      const file = { requestId, key, sizeBytes: bytes.byteLength, inParts: true, sha256 };
      assert.deepEqual(await findReceived(store, id), file);
      assert.deepEqual(await contentsOf(store), { keys: [key], notes: ["received", "unreported"] });
      await removeFile(store, { requestId, key, indexKey: "org_1/idx_1" });
      assert.deepEqual(await contentsOf(store), { keys: [], notes: [] });
    }
});

/** An upload of one part, which is durable. */
async function sendParts(store: FileStore) {
  const id = "upl_00000000000000000000000000";
  const sizes = { sizeBytes: BigInt(bytes.byteLength), partSizeBytes: 1_000_000n };
  const upload = { id, requestId: "req_1", key: `org_1/${id}`, ...sizes };
  await openUpload({ blobs: store, upload }, { digests: ["sha256"] });
  const digest = `sha256:${createHash("sha256").update(bytes).digest("base64")}`;
  await store.receivePart(upload.key, { number: 1, digest, lengthBytes: bytes.byteLength }, piecesOf(bytes));
  return upload;
}

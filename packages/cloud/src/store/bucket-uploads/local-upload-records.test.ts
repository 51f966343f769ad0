import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { LocalUploadRecords, openLocalRecords } from "./local-upload-records.ts";

const upload = { key: "org_1/upl_1", uploadId: "one", plan: { sizeBytes: 10, partSizeBytes: 5 } };
const part = { number: 1, digest: "sha256:a", lengthBytes: 5 };
const piece = { partNumber: 1, offset: 0, lengthBytes: 3, digest: "sha256:b", name: "1.0a" };

async function openFolder(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "downlink-records-"));
  t.after(() => rm(dir, { recursive: true }));
  const warnings: string[] = [];
  const log = { warn: (_: unknown, text: string) => void warnings.push(text) };
  return { dir, warnings, open: () => openLocalRecords(dir, log as never) };
}

test("the first upload under a key, the first digest of a part and every piece are there after the process has ended", async (t) => {
  const { open, warnings } = await openFolder(t);
  {
    using records = open();
    assert.deepEqual(await records.open(upload), upload);
    assert.deepEqual(await records.open({ ...upload, uploadId: "two" }), upload);
    await records.take(upload, part);
    assert.deepEqual(await records.take(upload, { ...part, digest: "sha256:other" }), part);
    assert.equal(await records.hold(upload, piece, (held) => held.length === 0), true);
    assert.equal(await records.hold(upload, { ...piece, offset: 3 }, (held) => held.length === 0), false);
  }
  using records = open();
  assert.deepEqual(await records.find(upload.key), upload);
  assert.deepEqual(await records.listTaken(upload), [part]);
  assert.deepEqual(await records.listTaken(upload, [2, 3]), []);
  assert.deepEqual([await records.listPieces(upload, 1), await records.listPieces(upload, 2)], [[piece], []]);
  assert.deepEqual(warnings, []);
});

test("nothing is recorded for an upload that was closed, and what was recorded of it is gone", async (t) => {
  const { open } = await openFolder(t);
  using records = open();
  await records.open(upload);
  await records.take(upload, part);
  await records.hold(upload, piece, () => true);
  await records.close(upload.key, "another");
  assert.deepEqual(await records.find(upload.key), upload);
  await records.close(upload.key);
  assert.deepEqual([await records.listTaken(upload), await records.listPieces(upload)], [[], []]);
  await assert.rejects(records.take(upload, part), { code: "UploadClosed" });
  const hold = records.hold(upload, piece, () => true);
  await assert.rejects(hold, { code: "UploadClosed" });
});

test("a decision that throws changes nothing, and the next one is made", async (t) => {
  const { open } = await openFolder(t);
  using records = open();
  await records.open(upload);
  const refuse = () => {
    throw new RangeError("refused");
  };
  await assert.rejects(records.hold(upload, piece, refuse), RangeError);
  assert.equal(await records.hold(upload, piece, () => true), true);
});

test("records that are older than the store, or of another one, are forgotten", async (t) => {
  const { open } = await openFolder(t);
  using records = open();
  assert.equal(records.follow(["a"]), 0);
  await records.open(upload);
  assert.equal(records.follow(["a", "b"]), 0, "the store's last start was this folder's");
  assert.equal(records.follow(["a", "b", "c", "d"]), 1, "another one was in between");
  assert.equal(await records.find(upload.key), undefined);
  await records.open(upload);
  assert.equal(records.follow(["z"]), 1, "a new store");
});

test("damaged records are set aside, and those of a newer program are refused", async (t) => {
  const { dir, open, warnings } = await openFolder(t);
  await writeFile(join(dir, "uploads.db"), "this is no database, whatever its name says ".repeat(100));
  {
    using records = open();
    await records.open(upload);
  }
  assert.equal(warnings.length, 1);
  assert.ok((await readdir(dir)).some((name) => name.startsWith("uploads.db.damaged-")));
  {
    using database = new DatabaseSync(join(dir, "uploads.db"));
    database.exec("PRAGMA user_version = 7");
  }
  assert.throws(open, /DOWNLINK_DATA_DIR: a newer program wrote .*uploads\.db \(schema 7\)/);
});

test("a full disk is a full store, and nothing of the change counts", async (t) => {
  const { dir, open } = await openFolder(t);
  open()[Symbol.dispose]();
  using database = new DatabaseSync(join(dir, "uploads.db"));
  const records = new LocalUploadRecords(database);
  await records.open(upload);
  const { page_count: pages } = database.prepare("PRAGMA page_count").get()!;
  database.exec(`PRAGMA max_page_count = ${Number(pages)}`);
  const long = { ...piece, name: "n".repeat(100_000) };
  await assert.rejects(
    records.hold(upload, long, () => true),
    { code: "StorageFull" },
  );
  assert.deepEqual(await records.listPieces(upload), []);
});

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLinkSigner } from "../../core/signed-link.ts";
import { newId } from "../../db/ids.ts";
import { openFileStore } from "../../store/blobs/file-store.ts";
import { openLocalRecords } from "../../store/bucket-uploads/local-upload-records.ts";
import { beginFile, keepFile, recoverFiles } from "./received-files.ts";
import { SiteClock } from "./site-clock.ts";
import { sweepUnfinished } from "./sweep-unfinished.ts";

const DAY_NS = 24n * 3600n * 1_000_000_000n;
const PLAN = { sizeBytes: 10, partSizeBytes: 5 };

async function* body() {
  yield Buffer.from("bytes");
}

test("what nobody goes on with is removed after a week; what is recorded, whole, acknowledged or no upload stays", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "downlink-sweep-"));
  t.after(() => rm(directory, { recursive: true }));
  const signer = createLinkSigner(["x".repeat(32)]);
  const clock = new SiteClock(0);
  const blobs = await openFileStore({ directory: join(directory, "objects"), signer, clock, publicUrl: () => "" });
  using uploadRecords = openLocalRecords(directory, { warn: () => {} });
  const sweep = () => sweepUnfinished({ blobs, uploadRecords, clock, stopping: new AbortController().signal });
  const keys = async () => (await Array.fromAsync(blobs.list(""), ({ key }) => key)).sort();

  const [lost, known] = [`org_1/${newId("upl")}`, `org_1/${newId("upl")}`];
  for (const key of [lost, known]) await blobs.createUpload(key, PLAN);
  await uploadRecords.open({ key: known, uploadId: "one", plan: PLAN });
  const cut = await beginFile(blobs, { orgId: "org_1", requestId: "req_cut" });
  await blobs.put(cut, body());
  const whole = await beginFile(blobs, { orgId: "org_1", requestId: "req_whole" });
  await blobs.put(whole, body());
  await keepFile(blobs, { requestId: "req_whole", key: whole, sizeBytes: 5 });
  await blobs.put(`org_1/${newId("idx")}`, body());

  const all = await keys();
  assert.equal(all.length, 5);
  await recoverFiles(blobs, { isShared: true });
  await sweep();
  assert.deepEqual(await keys(), all, "another process may be receiving them");

  clock.set(clock.nowNs() + 8n * DAY_NS);
  await sweep();
  assert.deepEqual(
    await keys(),
    all.filter((key) => key !== lost && key !== cut),
  );
  await assert.rejects(blobs.listParts(lost), { code: "UploadClosed" });
  await blobs.listParts(known);
});

import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import type { UploadModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { storeDelivery } from "../../import-life/delivery.ts";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { cutPiece, inPieces } from "../../store/blobs/testing/pieces.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { printSweep } from "./print-sweep.ts";
import { sweep } from "./sweep.ts";
import type { SweepDeps } from "./sweep-objects.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { orgId } = await prisma.project.findFirstOrThrow();
const hour = 3_600_000;

const inAMonth = { isDryRun: false, olderThanHours: 168, includesUnknown: false, nowMs: Date.now() + 720 * hour };
type Options = typeof inAMonth;

const sweepAll = (options: Partial<Options> = {}, over: Partial<SweepDeps> = {}) =>
  Array.fromAsync(sweep({ ...deps, ...over }, { ...inAMonth, ...options }));
const manifestsNow = () => Array.fromAsync(deps.blobs.listNotes("manifests/"), ({ key }) => key);
const keysOf = (prefix: string) => Array.fromAsync(deps.blobs.list(prefix), ({ key }) => key);

/** Each test finds the store and the rows empty. */
beforeEach(async () => {
  await prisma.recording.deleteMany();
  await prisma.upload.deleteMany();
  await prisma.importRequest.deleteMany();
  await prisma.extension.deleteMany();
  for (const key of await keysOf("")) await deps.blobs.delete(key);
  for (const key of await manifestsNow()) await deps.blobs.removeNote(key);
});

/** Uploads and processes a file, and returns the key of its object. */
async function upload(bytes: Uint8Array, filename = "a.mcap"): Promise<string> {
  const { link, requestId } = await admin.call(api.uploads.create, { filename, deviceName: "robot" });
  const headers = { "content-type": "application/octet-stream" };
  await fetch(link, { method: "PUT", headers, body: bytes as Uint8Array<ArrayBuffer> });
  await ingest(deps, requestId, new AbortController().signal);
  return (await prisma.upload.findFirstOrThrow({ where: { requestId } })).blobKey;
}

/** Stores an object, or only the beginning of one, with an upload row in a state, or without a row. */
async function leave(uploadState: UploadModel["state"] | undefined, isWhole = true): Promise<string> {
  const id = newId("upl");
  const blobKey = `${orgId}/${id}`;
  if (isWhole) await deps.blobs.put(blobKey, inPieces(Buffer.alloc(1000)));
  else {
    await deps.blobs.createUpload(blobKey, { sizeBytes: 1000, partSizeBytes: 1000 });
    const piece = cutPiece(1, 0, Buffer.alloc(1000));
    await deps.blobs.receivePiece!(blobKey, piece.plan, inPieces(piece.bytes));
  }
  if (uploadState === undefined) return blobKey;
  const { requestId } = await admin.call(api.uploads.create, { filename: "x.mcap", deviceName: "robot" });
  const row = {
    id,
    orgId,
    requestId,
    kind: "parts",
    blobKey,
    state: uploadState,
    createdAtNs: 1n,
    updatedAtNs: 1n,
  } as const;
  await prisma.upload.create({ data: row });
  return blobKey;
}

test("an object that no row can hold any more is removed and reported with its reason; one that something holds or may hold stays", async () => {
  const imported = await upload(await makeMcap({ seed: 1 }));
  const quarantined = await upload(Buffer.from("no recording"));
  const deleted = await upload(await makeMcap({ seed: 2, startNs: 7n }));
  const indexOf = async (blobKey: string) =>
    (await prisma.recording.findFirstOrThrow({ where: { blobKey }, select: { indexKey: true } })).indexKey!;
  const [itsIndex, deletedIndex] = [await indexOf(imported), await indexOf(deleted)];
  const { id } = await prisma.recording.findFirstOrThrow({ where: { blobKey: deleted } });
  await admin.call(api.recordings.delete, { keyOrId: id }); // no worker runs its job here
  const [underWay, resumable] = [await leave("open"), await leave("open", false)];
  const [abandoned, removed, broken] = [
    await leave("abandoned"),
    await leave("removed", false),
    await leave(undefined, false),
  ];
  const unknown = await leave(undefined);
  const viewed = `${orgId}/${newId("view")}`;
  await deps.blobs.put(viewed, inPieces(Buffer.from("bytes")));
  const built = `${orgId}/${newId("tf")}`;
  await deps.blobs.put(built, inPieces(Buffer.from("bytes")));

  const findings = await sweepAll({ isDryRun: true });
  const reasons = Object.fromEntries(findings.map(({ key, outcome, reason }) => [key, `${outcome}: ${reason}`]));
  assert.deepEqual(reasons, {
    [deleted]: "removed: its recording or import is gone",
    [deletedIndex]: "removed: it is the index of what is gone or has another one",
    [abandoned]: "removed: its upload was given up",
    [removed]: "removed: its upload was given up",
    [viewed]: "removed: it is the file of a view link that has ended",
    [built]: "removed: it is a file of a training set that is gone",
    [broken]: "removed: its write broke off",
    [unknown]: "kept: no row ever named it; was the database restored from a backup?",
  });
  assert.equal((await keysOf("")).length, 13, "a dry run removes nothing");

  assert.deepEqual(await sweepAll(), findings);
  const held = [imported, itsIndex, quarantined, underWay, resumable];
  assert.deepEqual((await keysOf("")).sort(), [...held, unknown].sort());
  await sweepAll({ includesUnknown: true });
  assert.deepEqual((await keysOf("")).sort(), held.sort());
  assert.deepEqual(await sweepAll({ includesUnknown: true }), []);
});

test("no younger object is touched", async () => {
  const keys = [await leave("abandoned"), await leave(undefined), await leave(undefined, false)];
  for (const nowMs of [Date.now(), Date.now() + 167 * hour])
    assert.deepEqual(await sweepAll({ nowMs, includesUnknown: true }), []);
  assert.deepEqual((await keysOf("")).sort(), keys.sort());
});

test("an object whose row is committed between the listing and its turn stays", async () => {
  const keys = [await leave(undefined), await leave(undefined)];
  const findings = sweep(deps, { ...inAMonth, includesUnknown: true });
  const { value: first } = await findings.next();
  assert.equal(first!.outcome, "removed");
  const later = keys.find((key) => key !== first!.key)!;
  await publish(later);
  const { value: second } = await findings.next();
  assert.deepEqual([second!.key, second!.outcome], [later, "kept"]);
  assert.deepEqual((await findings.next()).done, true);
  assert.deepEqual(await keysOf(""), [later]);
});

/** Does the last step of publishing an extension, whose package was stored before. */
async function publish(blobKey: string): Promise<void> {
  const [id, now] = [newId("ext"), 1n];
  const names = { publisher: "p", name: id, identity: id, displayName: id };
  await prisma.extension.create({ data: { id, orgId, ...names, createdAtNs: now, updatedAtNs: now } });
  const version = { id: newId("extv"), extensionId: id, version: "1.0.0", sha256: "", sizeBytes: 1000n, blobKey };
  await prisma.extensionVersion.create({ data: { ...version, createdAtNs: now } });
}

test("an upload that was swept cannot be delivered any more", async () => {
  const blobKey = await leave("abandoned");
  await sweepAll();
  const upload = await prisma.upload.findFirstOrThrow({ where: { blobKey } });
  assert.equal(upload.state, "removed");
  const delivered = withTransaction(deps.db, (tx) => storeDelivery({ tx, jobs: deps.jobs, nowNs: 1n }, upload));
  await assert.rejects(delivered, /no longer wanted/);
});

test("an object that cannot be removed is reported and stays, and the others are removed", async () => {
  const [stuck, other] = [await leave("abandoned"), await leave("abandoned")];
  const remove = (key: string) => (key === stuck ? Promise.reject(new Error("EIO")) : deps.blobs.delete(key));
  const findings = await sweepAll({}, { blobs: { ...deps.blobs, delete: remove } });
  const outcomes = new Map(findings.map(({ key, outcome, reason }) => [key, [outcome, reason]]));
  assert.deepEqual(outcomes.get(stuck), ["failed", "EIO"]);
  assert.equal(outcomes.get(other)![0], "removed");
  assert.deepEqual(
    (await sweepAll()).map(({ key, outcome }) => [key, outcome]),
    [[stuck, "removed"]],
  );
});

test("a row whose object is missing, or has another size, is reported and never changed", async () => {
  const [imported, quarantined] = [
    await upload(await makeMcap({ seed: 3 })),
    await upload(Buffer.from("no recording")),
  ];
  await deps.blobs.delete(imported);
  const stat = async (key: string) => ({ ...(await deps.blobs.stat(key))!, sizeBytes: 5 });
  const missing = await sweepAll();
  assert.deepEqual(
    missing.map(({ outcome, key }) => [outcome, key]),
    [["missing", imported]],
  );
  assert.match(missing[0]!.reason, /^the object is not there; recording rec_\w+ needs it$/);
  const changed = await sweepAll({}, { blobs: { ...deps.blobs, stat } });
  assert.match(
    changed.find(({ key }) => key === quarantined)!.reason,
    /has 5 bytes instead of 12; import request req_/,
  );
  assert.deepEqual(await sweepAll(), missing);
});

test("a row that is deleted while its object is looked up does not count as missing it", async () => {
  const imported = await upload(await makeMcap({ seed: 4 }));
  const stat = async (key: string) => {
    await prisma.recording.deleteMany({ where: { blobKey: key } });
    await deps.blobs.delete(key);
    return undefined;
  };
  assert.deepEqual(await sweepAll({}, { blobs: { ...deps.blobs, stat } }), []);
  assert.deepEqual(await keysOf(imported), []);
});

test("the sweep asks every table that names objects", async () => {
  // A missing object is one that the store does not have: the table that names it keeps nothing.
  const tables = await prisma.$queryRaw<{ table_name: string }[]>`
    SELECT table_name FROM information_schema.columns
    WHERE column_name = 'blobKey' AND table_name <> 'MissingObject' ORDER BY 1`;
  assert.deepEqual(
    tables.map(({ table_name }) => table_name),
    ["ExtensionVersion", "ImportRequest", "Recording", "RecordingThumbnails", "TrainingFile", "Upload", "ViewLink"],
  );
});

test("the table has a line for each finding, then the counts, and says whether something is wrong", async () => {
  await leave("abandoned");
  let text = "";
  const write = (line: string) => (text += line);
  assert.equal(await printSweep(sweep(deps, { ...inAMonth, isDryRun: true }), { isDryRun: true, write }), true);
  assert.match(text, /^ +bytes +object +reason\nwould remove +1,000 +org_\w+\/upl_\w+ +its upload was given up\n/);
  assert.match(text, /\nwould remove: 1 \(1,000 bytes\)\n$/);
  const missing = { outcome: "missing", key: "k", sizeBytes: 7, reason: "gone" } as const;
  assert.equal(await printSweep(arrayOf(missing), { isDryRun: false, write }), false);
  assert.match(text, /MISSING +7 +k +gone\nremoved: 0 \(0 bytes\)\nMISSING: 1 \(7 bytes\)\n$/);
});

async function* arrayOf<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
}

const begunOf = (blobKey: string) => `manifests/${blobKey}/begun`;

test("a manifest without a row goes after a week where nothing is stored of its upload, and with its object where there is one", async () => {
  const [gone, unfinished, whole] = [`${orgId}/${newId("upl")}`, await leave(undefined, false), await leave(undefined)];
  const [open, held] = [await leave("open", false), await upload(await makeMcap({ seed: 3, startNs: 11n }))];
  await deps.blobs.delete(open); // its first byte never arrived
  await deps.blobs.delete(held); // a backup may bring it back
  for (const blobKey of [gone, unfinished, whole, open]) await deps.blobs.putNote(begunOf(blobKey), Buffer.from("{}"));
  const left = [held, open, whole].map(begunOf);

  assert.deepEqual(await sweepAll({ nowMs: Date.now() + 167 * hour }).then(removedKeys), []);
  assert.deepEqual((await sweepAll({ isDryRun: true }).then(removedKeys)).sort(), [begunOf(gone), unfinished].sort());
  assert((await manifestsNow()).includes(begunOf(gone)), "a dry run removes nothing");
  await sweepAll();
  assert.deepEqual((await manifestsNow()).sort(), [...left, `manifests/${held}/import`].sort());
  await sweepAll({ includesUnknown: true });
  assert(!(await manifestsNow()).includes(begunOf(whole)));
});

const removedKeys = (findings: readonly { outcome: string; key: string }[]) =>
  findings.filter(({ outcome }) => outcome === "removed").map(({ key }) => key);

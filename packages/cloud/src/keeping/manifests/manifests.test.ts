import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, recordingItem, sha256 } from "../../testing/test-agent.ts";
import { putFile } from "../../testing/upload-file.ts";
import { findLostUpload } from "./find-lost-upload.ts";
import { type ManifestKind, manifestKey, parseManifest } from "./manifest.ts";
import { removeObject } from "./remove-object.ts";
import { writeFromRow } from "./write-manifests.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const never = new AbortController().signal;
let minute = 0n;

/** Makes a recording that no other test has. */
function anotherMcap(metadata: { name: string; metadata: Record<string, string> }[] = []): Promise<Uint8Array> {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * 1_000_000_000n, durationSeconds: 1, metadata });
}

async function readNote<K extends ManifestKind>(blobKey: string, kind: K) {
  const bytes = await deps.blobs.getNote(manifestKey(blobKey, kind));
  return bytes && parseManifest(blobKey, kind, bytes);
}

const kindsOf = async (blobKey: string) =>
  (await Array.fromAsync(deps.blobs.listNotes(`manifests/${blobKey}/`), ({ key }) => key.split("/").at(-1))).sort();

async function send(bytes: Uint8Array, more: { filename?: string; key?: string } = {}) {
  const { link, requestId } = await admin.call(api.uploads.create, {
    filename: "a.mcap",
    deviceName: "robot",
    ...more,
  });
  assert.equal((await putFile(link, bytes)).status, 200);
  const { blobKey } = await prisma.upload.findFirstOrThrow({ where: { requestId } });
  return { requestId, blobKey };
}

const requestOf = (id: string) => prisma.importRequest.findUniqueOrThrow({ where: { id } });

test("the store has the first manifest before an agent gets its first grant, and the second one after the import", async () => {
  const bytes = await anotherMcap();
  const item = recordingItem({ size: bytes.length, path: "runs/a.mcap", key: "run 1" });
  const { agent, recordingId, requestId, version } = await askForFile(cloud, "edge-1", item);
  const upload = await agent.call(api.edge.openUpload, version);
  const { blobKey } = await prisma.upload.findUniqueOrThrow({ where: { id: upload.uploadId } });
  const { id: agentId } = await prisma.agent.findFirstOrThrow({ where: { deviceId: agent.deviceId } });
  const begun = (await readNote(blobKey, "begun"))!;
  assert.deepEqual(
    { ...begun, projectId: undefined, siteId: undefined, importId: undefined, requestedAtNs: 0n, begunAtNs: 0n },
    {
      ...{ version: 1, kind: "begun", orgId: blobKey.split("/")[0], uploadId: upload.uploadId, uploadKind: "parts" },
      ...{ sizeBytes: BigInt(bytes.length), partSizeBytes: BigInt(upload.partSize), requestId, source: "edge" },
      ...{ priority: 0, projectId: undefined, siteId: undefined, deviceId: agent.deviceId, deviceName: "edge-1" },
      ...{ filename: "runs/a.mcap", key: "run 1", recordingId, importId: undefined },
      edge: { agentId, versionId: item.versionId, modifiedAtNs: item.modifiedAt },
      ...{ requestedAtNs: 0n, begunAtNs: 0n },
    },
  );

  await admin.call(api.devices.update, { nameOrId: agent.deviceId, name: "edge-renamed" });
  await agent.call(api.edge.openUpload, version);
  assert.deepEqual(await readNote(blobKey, "begun"), begun, "a repeat leaves it as it is");
  assert.deepEqual(await kindsOf(blobKey), ["begun"]);

  await agent.sendParts({ requestId, ...upload }, bytes);
  await agent.call(api.edge.completeUpload, { requestId, uploadId: upload.uploadId, parts: [], sha256: sha256(bytes) });
  await ingest(deps, requestId, never);
  const row = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
  const imported = (await readNote(blobKey, "import"))!;
  const { importId, contentSha256, indexKey, startNs, endNs, messageCount, importStatus } = row;
  assert.deepEqual([importStatus, importId], ["complete", begun.importId]);
  const facts = { sha256: contentSha256, indexKey, startNs, endNs, messageCount, reportedAtNs: row.createdAtNs };
  assert.deepEqual({ ...imported, ...facts }, imported);
  assert.equal(imported.deviceName, "edge-renamed");

  const asRow = { ...imported, importedAtNs: row.importedAtNs };
  await deps.blobs.removeNote(manifestKey(blobKey, "import"));
  assert.equal(await writeFromRow(deps, { id: recordingId, blobKey }), true);
  assert.deepEqual(await readNote(blobKey, "import"), asRow, "the rows say the same later");
  assert.equal(await writeFromRow(deps, { id: "rec_other", blobKey }), false);
});

test("the manifest of an upload by link has the ids of its recording, with what the file states about itself", async () => {
  const says = { name: "downlink", metadata: { key: "of the file", sessionKey: "of the file" } };
  const { requestId, blobKey } = await send(await anotherMcap([says]));
  const begun = (await readNote(blobKey, "begun"))!;
  await ingest(deps, requestId, never);
  const { state, recordingId, importId } = await requestOf(requestId);
  assert.deepEqual([state, begun.recordingId, begun.importId], ["complete", recordingId, importId]);
  const { key, sessionKey, recordingId: ofImport } = (await readNote(blobKey, "import"))!;
  assert.deepEqual([begun.key, key, sessionKey, ofImport], [undefined, "of the file", "of the file", recordingId]);
});

test("an attempt that died before its last commit and the attempt after it make the same recording", async () => {
  const bytes = await anotherMcap();
  const { requestId, blobKey } = await send(bytes);
  await prisma.$executeRaw`ALTER TABLE "Import" ADD CONSTRAINT broken CHECK ("filename" <> 'a.mcap') NOT VALID`;
  await ingest(deps, requestId, never);
  await prisma.$executeRaw`ALTER TABLE "Import" DROP CONSTRAINT broken`;
  assert.notEqual((await requestOf(requestId)).state, "complete");
  const first = await readNote(blobKey, "import");
  assert.equal(first?.sha256, sha256(bytes));
  await ingest(deps, requestId, never);
  const { state, recordingId } = await requestOf(requestId);
  assert.deepEqual([state, recordingId], ["complete", first.recordingId]);
  assert.deepEqual(await readNote(blobKey, "import"), first);
});

test("no manifest says that a repeated or a refused file became a recording", async () => {
  const bytes = await anotherMcap();
  const first = await send(bytes, { key: "taken" });
  await ingest(deps, first.requestId, never);
  for (const [sent, state] of [
    [await send(bytes, { key: "taken" }), "complete"],
    [await send(await anotherMcap(), { key: "taken" }), "error"],
    [await send(Buffer.from("no recording")), "error"],
  ] as const) {
    await ingest(deps, sent.requestId, never);
    assert.equal((await requestOf(sent.requestId)).state, state);
    assert.deepEqual(await kindsOf(sent.blobKey), ["begun"]);
  }
});

test("no manifest holds a token, a link or a key that gives access to something", async () => {
  const { signingKey } = await prisma.deployment.findFirstOrThrow();
  const asked = await askForFile(cloud, "edge-2");
  const { uploadId } = await asked.agent.call(api.edge.openUpload, asked.version);
  const ofEdge = await prisma.upload.findUniqueOrThrow({ where: { id: uploadId } });
  const byLink = await send(await anotherMcap());
  await ingest(deps, byLink.requestId, never);
  const keys = await Array.fromAsync(deps.blobs.listNotes("manifests/"), ({ key }) => key);
  for (const [{ blobKey }, kind] of [
    [ofEdge, "begun"],
    [byLink, "begun"],
    [byLink, "import"],
  ] as const)
    assert(keys.includes(manifestKey(blobKey, kind)), `${kind} of ${blobKey} is missing`);
  for (const key of keys) {
    const text = String(await deps.blobs.getNote(key));
    // Not "http": an id may hold these letters.
    for (const secret of [cloud.adminKey, signingKey, "dl_", "://", "sig="])
      assert(!text.includes(secret), `${key} holds ${secret}`);
  }
});

test("manifests are removed after their object, the later one first", async () => {
  const { requestId, blobKey } = await send(await anotherMcap());
  await ingest(deps, requestId, never);
  assert.deepEqual(await kindsOf(blobKey), ["begun", "import"]);
  const steps: string[] = [];
  const blobs = {
    delete: async (key: string) => void steps.push(key),
    removeNote: async (key: string) => void steps.push(key),
  };
  await removeObject({ db: deps.db, blobs }, blobKey);
  assert.deepEqual(steps, [blobKey, manifestKey(blobKey, "import"), manifestKey(blobKey, "begun")]);
  await removeObject(deps, blobKey);
  assert.deepEqual(await kindsOf(blobKey), []);
});

test("an upload that the store has and the database lacks is found, if its organization exists", async () => {
  const { blobKey } = await send(await anotherMcap());
  const find = (sinceMs: number) => findLostUpload(deps, sinceMs);
  assert.equal(await find(0), undefined);
  await deps.blobs.putNote("manifests/org_elsewhere/upl_1/begun", Buffer.from("{}"));
  assert.equal(await find(0), undefined);
  const [orgId] = blobKey.split("/");
  await deps.blobs.putNote(`manifests/${orgId}/upl_lost/begun`, Buffer.from("{}"));
  assert.equal(await find(0), "upl_lost");
  assert.equal(await find(Date.now() + 60_000), undefined, "it is older than what is asked for");
});

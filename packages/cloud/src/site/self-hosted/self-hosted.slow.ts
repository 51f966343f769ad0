import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { api, type CallInput, type RecordingAttachment } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages, readMessages } from "@downlink/recordings/testing";
import { filesOf } from "../../store/blobs/file-layout.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createSite, startConnected, startSite } from "../../testing/start-site.ts";
import { endOfImport, putFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const robot = await admin.call(api.devices.create, { name: "robot" });
const plant = await createSite({ after }, cloud, "plant");
let site = await startConnected(cloud, plant);
after(() => site[Symbol.asyncDispose]());
let minute = 0n;

function anotherMcap(more: Parameters<typeof makeMcap>[0] = {}) {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, ...more });
}

const createLink = (more: Partial<CallInput<typeof api.uploads.create>> = {}) =>
  admin.call(api.uploads.create, { filename: "a.mcap", deviceId: robot.id, siteId: plant.siteId, ...more });

async function upload(bytes: Uint8Array) {
  const { link, requestId } = await createLink();
  const response = await putFile(link, bytes);
  assert.equal(response.status, 200, await response.clone().text());
  return endOfImport(cloud, requestId);
}

/** The bytes that the control plane's server has sent and received so far. */
async function controlPlaneTraffic(): Promise<number> {
  const { receivedBytes, sentBytes, observers } = deps.metrics;
  for (const observe of observers) observe();
  const sums = await Promise.all([receivedBytes.get(), sentBytes.get()]);
  return sums.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0);
}

/** The names of all files in the site's store that belong to objects of recordings. */
async function objectsOfSite(): Promise<string[]> {
  const names = await readdir(join(plant.dataDir, "objects"), { recursive: true });
  return names.filter((name) => /\+(upl|idx)_/.test(name));
}

async function restart(controlPlane = cloud.url): Promise<void> {
  const port = new URL(site.url).port;
  await site[Symbol.asyncDispose]();
  site = await startSite({ ...plant, controlPlane, port });
}

test("a file goes to its site, is read there, and is exported from there; no byte of it passes the control plane", async () => {
  const data = randomBytes(8 * 1024 * 1024);
  const bytes = await anotherMcap({ attachments: [{ name: "noise.bin", data }] });
  const before = await controlPlaneTraffic();
  const { recordingId, errorCode } = await upload(bytes);
  assert.equal(errorCode, null);
  const { link } = await admin.call(api.exports.create, { recordingId: recordingId! });
  assert.ok(link.startsWith(site.url));
  const exported = new Uint8Array(await (await fetch(link)).arrayBuffer());
  assert.deepEqual(await readMessages(exported), await readMessages(bytes));
  const [attachment] = await admin.call(api.attachments.list, { recordingId: recordingId! });
  const response = await fetch(`${cloud.url}/v1/recording-attachments/${attachment!.id}/download`, {
    headers: { authorization: `Bearer ${cloud.adminKey}` },
  });
  assert.ok(response.url.startsWith(site.url));
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), data);
  await assertLiesAt(attachment!, data);
  assert.ok((await controlPlaneTraffic()) - before < 512 * 1024);
  for await (const { key } of deps.blobs.list("")) assert.fail(`the control plane's store has ${key}`);
});

/** Reads an attachment straight from the site's store, as a program beside the site does. */
async function assertLiesAt({ lakePath, dataOffset, size }: RecordingAttachment, data: Uint8Array): Promise<void> {
  const { object } = filesOf(join(plant.dataDir, "objects"), lakePath!);
  assert.deepEqual((await readFile(object)).subarray(dataOffset, dataOffset + size), data);
}

test("a selection that is too long for a link is asked for by the site, and a link to it elsewhere opens nothing", async () => {
  const bytes = await anotherMcap();
  const { recordingId } = await upload(bytes);
  const topics = ["/imu", ...Array.from({ length: 400 }, () => `/${randomBytes(16).toString("hex")}`)];
  const { link } = await admin.call(api.exports.create, { recordingId: recordingId!, topics });
  const exported = await readMessages(new Uint8Array(await (await fetch(link)).arrayBuffer()));
  const wanted = (await readMessages(bytes)).filter(({ topic }) => topic === "/imu");
  assert.ok(wanted.length > 0);
  assert.deepEqual(exported, wanted);
  const claims = JSON.parse(Buffer.from(new URL(link).searchParams.get("c")!, "base64url").toString());
  const other = await createSite({ after }, cloud, "curious");
  await using _elsewhere = await startConnected(cloud, other);
  const { leaseNumber } = await deps.db.prisma.siteProcess.findUniqueOrThrow({ where: { siteId: other.siteId } });
  const asked = cloud
    .withToken(other.token)
    .call(api.site.selection, { id: claims.selectionKey }, { headers: { "downlink-lease": String(leaseNumber) } });
  await assert.rejects(asked, refusedWith("LinkExpired"));
});

test("a view link leads to its site at each visit, as long as it is not deleted", async () => {
  const bytes = await anotherMcap();
  const { recordingId } = await upload(bytes);
  const { id, link } = await admin.call(api.viewLinks.create, { recordingId: recordingId!, lifeSeconds: 600 });
  const response = await fetch(link);
  assert.ok(response.url.startsWith(site.url));
  assert.deepEqual(await readMessages(new Uint8Array(await response.arrayBuffer())), await readMessages(bytes));
  await admin.call(api.viewLinks.delete, { id });
  assert.equal((await fetch(link)).status, 403);
});

test("a used link is refused, and a broken body leaves nothing behind", async () => {
  const bytes = await anotherMcap();
  const { link, requestId } = await createLink();
  const wrong = await fetch(link, { method: "PUT", headers: { "content-type": "text/plain" }, body: "no" });
  assert.equal(wrong.status, 415);
  const before = await objectsOfSite();
  const cut = new AbortController();
  const half = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 1000));
      setTimeout(() => cut.abort(), 50);
    },
  });
  const sent = fetch(link, { method: "PUT", body: half, duplex: "half", signal: cut.signal } as RequestInit);
  await assert.rejects(sent);
  await eventually(objectsOfSite, (names) => names.length === before.length);
  assert.equal((await putFile(link, bytes)).status, 200);
  assert.equal((await putFile(link, bytes)).status, 409);
  assert.equal((await endOfImport(cloud, requestId)).errorCode, null);
});

test("of two bodies at the same moment one is the file, and the other leaves nothing", async () => {
  const { link, requestId } = await createLink();
  const bodies = await Promise.all([anotherMcap(), anotherMcap()]);
  const statuses = await Promise.all(bodies.map(async (bytes) => (await putFile(link, bytes)).status));
  assert.deepEqual(statuses.sort(), [200, 409]);
  assert.equal((await endOfImport(cloud, requestId)).errorCode, null);
  const { siteObjectKey } = await deps.db.prisma.recording.findFirstOrThrow({
    where: { requests: { some: { id: requestId } } },
  });
  const uploads = (await objectsOfSite()).filter((name) => name.includes("+upl_"));
  const known = await deps.db.prisma.siteObject.count();
  assert.ok(siteObjectKey);
  assert.equal(uploads.length, known);
});

test("a damaged file fails with the reason, and what is deleted is removed at the site", async () => {
  const bytes = await anotherMcap();
  const { link, requestId } = await createLink();
  await putFile(link, bytes.subarray(0, bytes.byteLength / 2));
  const failed = await endOfImport(cloud, requestId);
  assert.equal(failed.errorCode, "NoEnd");
  const before = await objectsOfSite();
  const { recordingId } = await upload(bytes);
  assert.equal((await objectsOfSite()).length, before.length + 2);
  await admin.call(api.recordings.delete, { keyOrId: recordingId! });
  await eventually(objectsOfSite, (names) => names.length === before.length);
});

/** Asks the control plane for the stored file of a request, and follows to where it is. */
async function fileOf(requestId: string): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const response = await fetch(`${cloud.url}/v1/data/pending-imports/${requestId}/file`, { headers });
  assert.ok(response.url.startsWith(site.url), await response.clone().text());
  assert.equal(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

test("the stored file of an import is downloaded from its site, and what is readable of a cut one is salvaged there", async () => {
  const whole = await anotherMcap({ chunkBytes: 20_000, durationSeconds: 4 });
  const cut = whole.slice(0, Math.floor(whole.byteLength * 0.7));
  const { link, requestId } = await createLink({ filename: `${"n".repeat(4000)}/drive.mcap` });
  await putFile(link, cut);
  assert.equal((await endOfImport(cloud, requestId)).errorCode, "NoEnd");
  assert.deepEqual(await fileOf(requestId), cut);
  const before = await controlPlaneTraffic();
  const asked = await admin.call(api.pendingImports.salvage, { requestId });
  const findAsked = () => deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: asked.requestId } });
  await eventually(findAsked, ({ state }) => state === "complete"); // not by calls, whose bytes would count
  assert.ok((await controlPlaneTraffic()) - before < 512 * 1024);
  const ended = await endOfImport(cloud, asked.requestId);
  assert.deepEqual([ended.status, ended.salvageOf], ["complete", requestId], ended.error);
  const salvaged = await readIndexedMessages(await fileOf(ended.requestId));
  const all = await readMessages(whole);
  assert.ok(salvaged.length > all.length / 2 && salvaged.length < all.length);
  const recording = await admin.call(api.recordings.get, { keyOrId: ended.recordingId! });
  const record = recording.metadata.findLast(({ name }) => name === "downlink.salvage")!.metadata;
  assert.deepEqual(
    [record.requestId, record.messageCount, record.sizeBytes, record.reasonCode],
    [requestId, `${salvaged.length}`, `${cut.byteLength}`, "NoEnd"],
  );
  assert.equal(recording.site!.id, plant.siteId);
  assert.equal((await admin.call(api.pendingImports.salvage, { requestId })).requestId, asked.requestId);
});

test("a file of which no message can be read ends its salvage with the reason, and a retry in the same way", async () => {
  const { link, requestId } = await createLink();
  await putFile(link, (await anotherMcap()).slice(0, 60));
  await endOfImport(cloud, requestId);
  const { requestId: salvageId } = await admin.call(api.pendingImports.salvage, { requestId });
  assert.equal((await endOfImport(cloud, salvageId)).errorCode, "SalvageEmpty");
  await admin.call(api.pendingImports.retry, { requestId: salvageId });
  const again = await endOfImport(cloud, salvageId);
  assert.deepEqual([again.errorCode, again.attempts], ["SalvageEmpty", 2]);
});

test("a link opens nothing of another site, and keys that were revoked open nothing", async () => {
  const other = await createSite({ after }, cloud, "other");
  await using elsewhere = await startConnected(cloud, other);
  const bytes = await anotherMcap();
  const { link } = await createLink();
  const stolen = await putFile(link.replace(site.url, elsewhere.url), bytes);
  assert.deepEqual([stolen.status, ((await stolen.json()) as { code: string }).code], [403, "LinkRefused"]);
  const atCloud = await putFile(link.replace(site.url, cloud.url), bytes);
  assert.equal(atCloud.status, 403);
  await admin.call(api.sites.revokeKeys, { id: plant.siteId });
  await eventually(
    () => deps.db.prisma.siteKey.count({ where: { siteId: plant.siteId, savedAtNs: { not: null } } }),
    (count) => count === 1,
  );
  assert.equal((await putFile(link, bytes)).status, 403);
  await upload(bytes);
});

test("a site without its control plane serves what it has and takes files, which are imported once it is back", async () => {
  const bytes = await anotherMcap({ attachments: [{ name: "a.txt", data: Buffer.from("kept") }] });
  const { recordingId } = await upload(bytes);
  const [attachment] = await admin.call(api.attachments.list, { recordingId: recordingId! });
  const redirect = await fetch(`${cloud.url}/v1/recording-attachments/${attachment!.id}/download`, {
    headers: { authorization: `Bearer ${cloud.adminKey}` },
    redirect: "manual",
  });
  const { link, requestId } = await createLink();
  await restart("http://127.0.0.1:9");
  assert.equal(await (await fetch(redirect.headers.get("location")!)).text(), "kept");
  assert.equal((await putFile(link, await anotherMcap())).status, 200);
  await restart();
  assert.equal((await endOfImport(cloud, requestId)).errorCode, null);
});

test("the keys are kept where only their owner reads them, and one process at a time uses the folder", async () => {
  const file = join(plant.dataDir, "site.json");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.ok(JSON.parse(await readFile(file, "utf8")).facts.keys.length > 0);
  await assert.rejects(startSite(plant), /in use by another process/);
});

test("a store is of one site, whatever token its process has", async () => {
  const other = await createSite({ after }, cloud, "third");
  await site[Symbol.asyncDispose]();
  const port = new URL(site.url).port;
  {
    await using _wrong = await startSite({ ...other, dataDir: plant.dataDir });
    const rows = () => deps.db.prisma.siteKey.count({ where: { siteId: other.siteId, savedAtNs: { not: null } } });
    await eventually(
      () => deps.db.prisma.siteProcess.count({ where: { siteId: other.siteId } }),
      (count) => count === 1,
    );
    assert.equal(await rows(), 0, "it never says that it has the key");
  }
  site = await startConnected(cloud, { ...plant, port });
});

test("a control plane that was restored gets every file again, those it does not know as what they were", async () => {
  const known = await upload(await anotherMcap());
  const bytes = await anotherMcap();
  const forgotten = await upload(bytes);
  const { prisma } = deps.db;
  const before = await prisma.recording.findUniqueOrThrow({ where: { id: forgotten.recordingId! } });
  const files = await objectsOfSite();
  await prisma.siteObject.deleteMany({ where: { requestId: { in: [known.requestId, forgotten.requestId] } } });
  await prisma.import.delete({ where: { id: before.importId! } });
  await prisma.recording.delete({ where: { id: before.id } });
  await prisma.importRequest.delete({ where: { id: forgotten.requestId } });
  const { incarnation } = await prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  await prisma.deployment.update({ where: { id: 1 }, data: { incarnation: `${incarnation}-restored` } });
  const count = () => prisma.siteObject.count({ where: { requestId: { in: [known.requestId, forgotten.requestId] } } });
  await eventually(count, (found) => found === 2);
  const after = await endOfImport(cloud, forgotten.requestId);
  assert.deepEqual([after.recordingId, after.errorCode], [before.id, null]);
  const { contentSha256, importId, siteObjectKey } = await prisma.recording.findUniqueOrThrow({
    where: { id: before.id },
  });
  assert.deepEqual(
    [contentSha256, importId, siteObjectKey],
    [before.contentSha256, before.importId, before.siteObjectKey],
  );
  assert.deepEqual(await objectsOfSite(), files);
  await eventually(
    () => prisma.siteKey.count({ where: { siteId: plant.siteId, savedAtNs: { not: null } } }),
    (saved) => saved > 0,
  );
  const { link } = await admin.call(api.exports.create, { recordingId: before.id });
  const exported = new Uint8Array(await (await fetch(link)).arrayBuffer());
  assert.deepEqual(await readMessages(exported), await readMessages(bytes));
});

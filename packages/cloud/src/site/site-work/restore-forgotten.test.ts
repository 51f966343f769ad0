import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { createLinkSigner } from "../../core/signed-link.ts";
import { signRequest } from "../../keeping/manifests/request-manifest.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { randomHex, readFindings, startTestSite, type TestSite } from "./testing/test-site.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const robot = await admin.call(api.devices.create, { name: "robot" });
const site = await startTestSite(cloud, "plant");
const { siteId } = site;
let minute = 0n;

interface Kept {
  readonly requestId: string;
  readonly key: string;
  readonly size: number;
  readonly request: string;
}

/** Sends a file to the site, which keeps what the link says of it. */
async function sendFile() {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1 });
  const body = { filename: "a.mcap", deviceId: robot.id, siteId, key: `lap-${minute}`, sessionKey: "race" };
  const { link, requestId } = await admin.call(api.uploads.create, body);
  const claims = JSON.parse(Buffer.from(new URL(link).searchParams.get("c")!, "base64url").toString());
  const key = await site.storeFile(requestId, bytes);
  const kept: Kept = { requestId, key, size: bytes.byteLength, request: claims.request };
  return { bytes, kept };
}

async function read({ kept: { requestId }, bytes }: Awaited<ReturnType<typeof sendFile>>) {
  const { attempt } = (await work()).imports.find((wanted) => wanted.requestId === requestId)!;
  for (const call of await readFindings(deps, { requestId, attempt, bytes })) await site.call(api.site.findings, call);
  const { recordingId } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  return prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
}

/** The database is as it was before the file. */
async function forget({ requestId, key }: Kept): Promise<void> {
  const recording = await prisma.recording.findUnique({ where: { siteObjectKey: key } });
  await prisma.import.deleteMany({ where: { recordingId: recording?.id ?? "" } });
  await prisma.recording.deleteMany({ where: { siteObjectKey: key } });
  await prisma.siteObject.deleteMany({ where: { key } });
  await prisma.importRequest.deleteMany({ where: { id: requestId } });
}

const work = () => site.call(api.site.work, {});
const stateAt = async (of: TestSite, stored: Kept) => (await of.report({ stored: [stored] })).requests[0]!.state;

async function recover(data: { recoveringSinceNs: bigint | null }) {
  await prisma.deployment.update({ where: { id: 1 }, data });
}

test("a file whose request the database has lost becomes the recording that it was, with all ids and the hash", async () => {
  const sent = await sendFile();
  const before = await read(sent);
  await forget(sent.kept);
  const { request: _, ...unsigned } = sent.kept;
  assert.equal(await stateAt(site, { ...unsigned } as Kept), "unknown");
  assert.equal(await stateAt(site, sent.kept), "received");
  assert.equal(await stateAt(site, sent.kept), "received", "a repeat is harmless");
  const after = await read(sent);
  const facts = ({ id, importId, contentSha256, key, deviceId, sessionId, projectId }: typeof before) => ({
    id,
    importId,
    contentSha256,
    key,
    deviceId,
    sessionId,
    projectId,
  });
  assert.deepEqual(facts(after), facts(before));
  assert.equal(await stateAt(site, sent.kept), "complete");
});

test("a file that was not read before the restore is read after it", async () => {
  const sent = await sendFile();
  await forget(sent.kept);
  assert.equal(await stateAt(site, sent.kept), "received");
  assert.equal((await read(sent)).importStatus, "complete");
});

test("a device and a session that are younger than the backup are created again", async () => {
  const sent = await sendFile();
  const before = await read(sent);
  await forget(sent.kept);
  await prisma.siteObject.deleteMany({ where: { siteId } });
  await prisma.recording.deleteMany({ where: { deviceId: robot.id } });
  await prisma.importRequest.deleteMany({ where: { deviceId: robot.id } });
  await prisma.import.deleteMany({ where: { deviceId: robot.id } });
  await prisma.session.deleteMany({ where: { deviceId: robot.id } });
  await prisma.device.delete({ where: { id: robot.id } });
  await prisma.ledgerEntry.deleteMany({ where: { subject: robot.id, kind: "Device.delete" } });
  assert.equal(await stateAt(site, sent.kept), "received");
  const after = await read(sent);
  assert.equal(after.deviceId, before.deviceId);
  assert.equal((await prisma.session.findUniqueOrThrow({ where: { id: after.sessionId! } })).key, "race");
  assert.equal((await admin.call(api.devices.get, { nameOrId: robot.id })).name, "robot");
});

test("what was deleted since the backup stays deleted, and its file is removed at the site", async () => {
  const sent = await sendFile();
  const { id } = await read(sent);
  await admin.call(api.recordings.delete, { keyOrId: id });
  await forget(sent.kept);
  assert.equal(await stateAt(site, sent.kept), "cancelled");
  const { imports, removals } = await work();
  assert.deepEqual([imports, removals.map(({ key }) => key)], [[], [sent.kept.key]]);
  await site.report({ removed: [sent.kept.key] });
});

test("nothing is restored, read or removed before it is known what was deleted since the backup", async () => {
  const [forgotten, waiting] = [await sendFile(), await sendFile()];
  await forget(forgotten.kept);
  await recover({ recoveringSinceNs: 1n });
  try {
    await assert.rejects(stateAt(site, forgotten.kept), refusedWith("Unavailable"));
    assert.equal(await stateAt(site, waiting.kept), "received");
    const { imports, removals } = await work();
    assert.deepEqual([imports, removals], [[], []]);
  } finally {
    await recover({ recoveringSinceNs: null });
  }
  assert.equal(await stateAt(site, forgotten.kept), "received");
  for (const sent of [forgotten, waiting]) assert.equal((await read(sent)).importStatus, "complete");
});

test("only what this control plane said of this very request at this site counts", async () => {
  const sent = await sendFile();
  const other = await sendFile();
  const row = await prisma.importRequest.findUniqueOrThrow({ where: { id: sent.kept.requestId } });
  await forget(sent.kept);
  const foreign = await startTestSite(cloud, "foreign", await cloud.otherOrganization());
  const neighbour = await startTestSite(cloud, "neighbour");
  const signer = createLinkSigner([randomHex()]);
  const altered = new URLSearchParams(sent.kept.request);
  const claims = Buffer.from(altered.get("c")!, "base64url").toString().replace("a.mcap", "b.mcap");
  altered.set("c", Buffer.from(claims).toString("base64url"));
  for (const request of [other.kept.request, signRequest(signer, row), String(altered), "v=1", "%%%"])
    assert.equal(await stateAt(site, { ...sent.kept, request }), "unknown", request);
  assert.equal(await stateAt(neighbour, sent.kept), "unknown");
  const elsewhere = { ...sent.kept, key: sent.kept.key.replace(site.hello.orgId, foreign.hello.orgId) };
  assert.equal(await stateAt(foreign, elsewhere), "unknown");
  assert.equal(await prisma.importRequest.count({ where: { id: sent.kept.requestId } }), 0);
});

test("a file of a project that was deleted since stays at the site", async () => {
  const project = await admin.call(api.projects.create, { name: "gone" });
  const body = { filename: "a.mcap", projectId: project.id, siteId, key: "gone" };
  const { link, requestId } = await admin.call(api.uploads.create, body);
  const { request } = JSON.parse(Buffer.from(new URL(link).searchParams.get("c")!, "base64url").toString());
  const key = await site.storeFile(requestId, new Uint8Array(10));
  await forget({ requestId, key, size: 10, request });
  await prisma.project.delete({ where: { id: project.id } });
  assert.equal(await stateAt(site, { requestId, key, size: 10, request }), "unknown");
  assert.deepEqual((await work()).removals, []);
});

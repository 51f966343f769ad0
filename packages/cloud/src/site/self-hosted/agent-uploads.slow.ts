import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api, siteUploads, type UploadSite } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { findReceivingSite } from "../../store/site-keys/find-serving-site.ts";
import { makeCapability } from "../../store/site-keys/upload-capability.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createSite, startConnected } from "../../testing/start-site.ts";
import { type AskedFor, askForFile, recordingItem, sha256 } from "../../testing/test-agent.ts";
import { endOfImport } from "../../testing/upload-file.ts";
import { setProof } from "../site-work/proof-command.ts";

const PART_BYTES = 5 * 1024 * 1024;
const MINUTE_NS = 60_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const transport = undiciTransport();
after(() => transport[Symbol.asyncDispose]());
const plant = await createSite({ after }, cloud, "plant");
await startConnected(cloud, plant).then((site) => after(() => site[Symbol.asyncDispose]()));
const other = await createSite({ after }, cloud, "other");
const elsewhere = await startConnected(cloud, other);
after(() => elsewhere[Symbol.asyncDispose]());
const [project] = await admin.call(api.projects.list, {});
await usePrimarySite(plant.siteId);

function usePrimarySite(primarySiteId: string | null) {
  return admin.call(api.projects.update, { id: project!.id, primarySiteId });
}

let files = 0n;

/** A file of two parts that is requested from a device. */
async function ask() {
  files += 1n;
  const startNs = (1_760_000_000n + files * 60n) * 1_000_000_000n;
  const attachments = [{ name: "noise.bin", data: randomBytes(PART_BYTES) }];
  const bytes = await makeMcap({ startNs, durationSeconds: 1, attachments });
  const asked = await askForFile(cloud, `robot-${files}`, recordingItem({ size: bytes.length }));
  return { ...asked, bytes };
}

type Asked = Awaited<ReturnType<typeof ask>>;

async function open({ agent, version }: Pick<AskedFor, "agent" | "version">) {
  const opened = await agent.call(api.edge.openUpload, { ...version, partSize: PART_BYTES, takesSites: true });
  return { ...opened, site: opened.site! };
}

type Opened = Awaited<ReturnType<typeof open>>;

function at({ address, capability }: Pick<UploadSite, "address" | "capability">) {
  return createClient({ baseUrl: address, token: capability, transport });
}

/** Sends one part by the target that the site grants. */
async function sendPart({ uploadId, site }: Opened, bytes: Uint8Array, number: number): Promise<Response> {
  const part = bytes.subarray((number - 1) * PART_BYTES, number * PART_BYTES);
  const digest = createHash("sha256").update(part).digest("base64");
  const parts = [{ number, length: part.length, sha256: digest }];
  const { grants } = await at(site).call(siteUploads.grantParts, { uploadId, parts });
  return fetch(grants[0]!.url, { method: "PUT", body: part as Uint8Array<ArrayBuffer> });
}

async function sendAll(asked: Asked): Promise<Opened> {
  const opened = await open(asked);
  const { uploadId } = opened;
  await at(opened.site).call(siteUploads.open, { uploadId, digests: ["sha256"] });
  for (const number of [1, 2]) assert.equal((await sendPart(opened, asked.bytes, number)).status, 200);
  return opened;
}

function complete({ uploadId, site }: Opened, content: string) {
  return at(site).call(siteUploads.complete, { uploadId, parts: [], sha256: content });
}

async function objectsOf({ dataDir }: { dataDir: string }, kind = /\+upl_/): Promise<string[]> {
  return (await readdir(join(dataDir, "objects"), { recursive: true })).filter((name) => kind.test(name));
}

const statusOf = (id: string) => admin.call(api.recordings.get, { keyOrId: id });

test("a file goes to the site of its project, each call may be repeated, and its hash is compared", async () => {
  const asked = await ask();
  const opened = await sendAll(asked);
  assert.equal((await open(asked)).uploadId, opened.uploadId);
  const { parts } = await at(opened.site).call(siteUploads.open, { uploadId: opened.uploadId, digests: ["sha256"] });
  assert.deepEqual(
    parts.map(({ number }) => number),
    [1, 2],
  );
  for (const _answerIsLost of [true, false]) await complete(opened, sha256(asked.bytes));
  const again = await at(opened.site).call(siteUploads.open, { uploadId: opened.uploadId, digests: ["sha256"] });
  assert.equal(again.isStored, true);
  assert.equal((await endOfImport(cloud, asked.requestId)).errorCode, null);
  const recording = await prisma.recording.findUniqueOrThrow({ where: { id: asked.recordingId } });
  assert.deepEqual([recording.importStatus, recording.siteId], ["complete", plant.siteId]);
  assert.equal(recording.contentSha256, sha256(asked.bytes));
  assert.equal(await prisma.siteUpload.count({ where: { requestId: asked.requestId } }), 0);
  for await (const { key } of deps.blobs.list("")) assert.fail(`the control plane's store has ${key}`);
});

test("a device may delete its copy only while the site has the file, as an admin allowed", async () => {
  const asked = await ask();
  await complete(await sendAll(asked), sha256(asked.bytes));
  assert.equal((await endOfImport(cloud, asked.requestId)).errorCode, null);
  await admin.call(api.devices.update, { nameOrId: asked.agent.deviceId, autoDeleteAfterImport: true });
  const items = [{ versionId: asked.item.versionId, sha256: sha256(asked.bytes), reason: "imported" as const }];
  const answer = async () => {
    const { answers } = await asked.agent.call(api.edge.askPermits, { items });
    const [only] = answers;
    return only?.answer === "refused" ? only.code : only?.answer;
  };
  assert.equal(await answer(), "SafetyPeriod");
  await setProof(deps, plant.siteId, true);
  assert.equal(await answer(), "granted");
  const { siteObjectKey } = await prisma.recording.findUniqueOrThrow({ where: { id: asked.recordingId } });
  const [name] = (await objectsOf(plant)).filter((one) => one.includes(siteObjectKey!.split("/")[1]!));
  await rm(join(plant.dataDir, "objects", name!)); // the site's store has lost it since its report
  assert.equal(await answer(), "ImportNotComplete");
});

test("a capability opens nothing but its upload at its site, and neither does a target that it was granted", async () => {
  const [one, two] = [await ask(), await ask()];
  const [mine, others] = [await sendAll(one), await open(two)];
  const { capability } = mine.site;
  const body = { digests: ["sha256" as const] };
  const tried = (address: string, token: string, uploadId: string) =>
    assert.rejects(at({ address, capability: token }).call(siteUploads.open, { uploadId, ...body }), {
      status: 403,
      code: "LinkRefused",
    });
  await tried(mine.site.address, capability, others.uploadId);
  await tried(elsewhere.url, capability, mine.uploadId);
  const claims = new URLSearchParams(capability);
  const read = JSON.parse(Buffer.from(claims.get("c")!, "base64url").toString());
  claims.set("c", Buffer.from(JSON.stringify({ ...read, size: "1" })).toString("base64url"));
  await tried(mine.site.address, claims.toString(), mine.uploadId);
  const { token } = one.agent;
  await assert.rejects(
    at({ ...mine.site, capability: token }).call(siteUploads.open, { uploadId: mine.uploadId, ...body }),
    {
      code: "InvalidLink",
    },
  );
  await assert.rejects(cloud.withToken(capability).call(api.edge.work, {}), refusedWith("Unauthenticated"));
  const parts = [{ number: 1, length: PART_BYTES - 1, sha256: createHash("sha256").digest("base64") }];
  await assert.rejects(at(mine.site).call(siteUploads.grantParts, { uploadId: mine.uploadId, parts }), {
    code: "InvalidRequest",
  });
  const digest = createHash("sha256").update(one.bytes.subarray(0, PART_BYTES)).digest("base64");
  const { grants } = await at(mine.site).call(siteUploads.grantParts, {
    uploadId: mine.uploadId,
    parts: [{ number: 1, length: PART_BYTES, sha256: digest }],
  });
  const { url } = grants[0]!;
  const put = async (target: string, bytes: Uint8Array) =>
    (await fetch(target, { method: "PUT", body: bytes as Uint8Array<ArrayBuffer> })).status;
  assert.equal(await put(url, randomBytes(PART_BYTES)), 400, "other bytes");
  assert.equal(await put(url.replace("/1?", "/2?"), one.bytes.subarray(0, PART_BYTES)), 403, "another part");
  assert.equal(await put(url.replace(mine.uploadId, others.uploadId), one.bytes.subarray(0, PART_BYTES)), 403);
});

test("a capability ends, and another one goes on with the same upload; revoked keys end it at once", async () => {
  const asked = await ask();
  const opened = await open(asked);
  const { uploadId } = opened;
  const site = await findReceivingSite({ tx: prisma, clock: deps.clock }, plant.siteId);
  const row = await prisma.siteUpload.findUniqueOrThrow({ where: { id: uploadId } });
  const ended = { ...opened.site, capability: makeCapability(site, row, deps.clock.nowNs() - MINUTE_NS) };
  const body = { uploadId, digests: ["sha256" as const] };
  await assert.rejects(at(ended).call(siteUploads.open, body), refusedWith("LinkExpired"));
  await sendAll(asked);
  await admin.call(api.sites.revokeKeys, { id: plant.siteId });
  const refused = await eventually(
    () =>
      at(opened.site)
        .call(siteUploads.open, body)
        .catch((error: { code: string }) => error),
    (answer) => "code" in answer,
  );
  assert.equal((refused as { code: string }).code, "LinkRefused");
  const renewed = await eventually(
    () => open(asked).catch(() => undefined),
    (found) => found !== undefined,
  );
  assert.equal(renewed!.uploadId, uploadId);
  const held = await at(renewed!.site).call(siteUploads.open, body);
  assert.equal(held.parts.length, 2);
  await complete(renewed!, sha256(asked.bytes));
  assert.equal((await endOfImport(cloud, asked.requestId)).errorCode, null);
});

test("other bytes than were announced are asked for again, as another upload", async () => {
  const asked = await ask();
  const opened = await sendAll(asked);
  await complete(opened, sha256("other bytes"));
  const fresh = await eventually(
    () => open(asked),
    ({ uploadId, isStored }) => !isStored && uploadId !== opened.uploadId,
  );
  const uploadId = fresh.uploadId;
  await at(fresh.site).call(siteUploads.open, { uploadId, digests: ["sha256"] });
  for (const number of [1, 2]) assert.equal((await sendPart(fresh, asked.bytes, number)).status, 200);
  await complete(fresh, sha256(asked.bytes));
  assert.equal((await endOfImport(cloud, asked.requestId)).errorCode, null);
  await eventually(
    () => objectsOf(plant),
    (names) => !names.some((name) => name.includes(opened.uploadId)),
  );
});

test("what was sent of a cancelled import is removed once no agent can go on with it, and a late file too", async () => {
  const [cut, late] = [await ask(), await ask()];
  const [half, whole] = [await sendAll(cut), await sendAll(late)];
  for (const { recordingId } of [cut, late]) await admin.call(api.recordings.cancelImport, { keyOrId: recordingId });
  await complete(whole, sha256(late.bytes)); // the agent had not heard of it yet
  const isThere = async ({ uploadId }: Opened) => (await objectsOf(plant)).some((name) => name.includes(uploadId));
  await eventually(
    () => isThere(whole),
    (found) => !found,
  );
  assert.equal(await isThere(half), true, "its capability has not ended");
  await prisma.siteUpload.updateMany({ where: { id: half.uploadId }, data: { capableUntilNs: 0n } });
  await eventually(
    () => isThere(half),
    (found) => !found,
  );
  await eventually(
    () => prisma.siteUpload.count({ where: { id: { in: [half.uploadId] } } }),
    (count) => count === 0,
  );
  await assert.rejects(open(cut), refusedWith("RequestSuperseded"));
  assert.equal((await statusOf(late.recordingId)).importStatus, "none");
});

test("what a site has acknowledged is imported, although the device lost its copy and said so before the site's report", async () => {
  const asked = await ask();
  const opened = await sendAll(asked);
  const { requestId, recordingId, agent, version } = asked;
  const gone = { requestId, versionId: version.versionId, code: "FileGone", text: "The file is gone." } as const;
  await agent.call(api.edge.failImport, gone);
  assert.equal((await statusOf(recordingId)).importStatus, "failed");
  await prisma.siteUpload.updateMany({ where: { id: opened.uploadId }, data: { capableUntilNs: 0n } });
  await complete(opened, sha256(asked.bytes));
  await eventually(
    () => statusOf(recordingId),
    ({ importStatus }) => importStatus === "complete",
  );
  assert.equal((await endOfImport(cloud, requestId)).errorCode, null);
});

test("another version gets another upload, and the file of the former one is not taken for it", async () => {
  const asked = await ask();
  const former = await sendAll(asked);
  const current = await open({ ...asked, version: { ...asked.version, size: asked.bytes.length + 1 } });
  assert.notEqual(current.uploadId, former.uploadId);
  await complete(former, sha256(asked.bytes));
  await eventually(
    () => objectsOf(plant),
    (names) => !names.some((name) => name.includes(former.uploadId)),
  );
  assert.equal((await statusOf(asked.recordingId)).importStatus, "pending");
});

test("an agent that cannot send to a site gets the reason, its request says what it waits for, and an update helps", async () => {
  const asked = await ask();
  await assert.rejects(asked.agent.call(api.edge.openUpload, asked.version), { status: 409, code: "SiteUnavailable" });
  const stage = async () =>
    (await prisma.importRequest.findUniqueOrThrow({ where: { id: asked.requestId } })).pipelineStage;
  assert.match(await stage(), /update it$/);
  await open(asked);
  assert.equal(await stage(), "Waiting for the device");
});

test("a request keeps its site; after that was deleted a retry goes to the project's site of then", async () => {
  const doomed = await createSite({ after }, cloud, "doomed");
  const running = await startConnected(cloud, doomed);
  await usePrimarySite(doomed.siteId);
  const asked = await ask();
  await usePrimarySite(null);
  assert.equal((await open(asked)).site.id, doomed.siteId);
  await running[Symbol.asyncDispose]();
  await admin.call(api.sites.delete, { id: doomed.siteId });
  const { importStatus } = await statusOf(asked.recordingId);
  assert.equal(importStatus, "failed");
  await admin.call(api.pendingImports.retry, { requestId: asked.requestId });
  const opened = await asked.agent.call(api.edge.openUpload, asked.version);
  assert.equal(opened.site, undefined, "it is stored here now");
  await usePrimarySite(plant.siteId);
});

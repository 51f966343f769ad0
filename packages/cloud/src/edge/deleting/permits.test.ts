import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { api, type DeletionReason, type PermitAnswer } from "@downlink/protocol";
import { eventually, firstCases, makeMcap, slowTest } from "@downlink/recordings/testing";
import { inPieces, readBlob } from "../../store/blobs/testing/pieces.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sayHello, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";

const SECOND = 1_000_000_000n;
const clock = createRunningClock();
const environment = { DOWNLINK_DELETE_SAFETY: "30min" };
const cloud = await startCloud({ after }, { clock, environment });
const { admin } = cloud;

async function ask(agent: TestAgent, reason: DeletionReason, file: { versionId: string; sha256?: string }) {
  const { answers } = await agent.call(api.edge.askPermits, { items: [{ ...file, reason }] });
  return answers[0]!;
}

function codeOf(answer: PermitAnswer): string {
  return answer.answer === "granted" ? "granted" : answer.code;
}

/** Creates a device with one recording that ended long ago, known and not imported. */
async function makeDevice(name: string) {
  const agent = await startAgent(cloud, name);
  const item = recordingItem();
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const id = recording!.id;
  const set = (changes: { autoDeleteAfterImport?: boolean; retainRecordingsSeconds?: number; enabled?: boolean }) =>
    admin.call(api.devices.update, { nameOrId: agent.deviceId, ...changes });
  return { agent, item, id, set };
}

/** Creates a device whose recording is imported and safe; `file` is what its agent would report of it. */
async function makeImported(name: string, seed: number) {
  const imported = await makeFresh(name, seed);
  clock.aheadNs += 1801n * SECOND;
  return { ...imported, agent: await sayHello(cloud, imported.agent) };
}

/** Creates a device whose recording was imported at this moment. */
async function makeFresh(name: string, seed: number) {
  const agent = await startAgent(cloud, name);
  const bytes = await makeMcap({ seed, durationSeconds: 0.1 });
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const { id } = recording!;
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  await deliver(agent, item, bytes);
  const status = () => admin.call(api.recordings.get, { keyOrId: id });
  await eventually(status, ({ importStatus }) => importStatus === "complete");
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  return { agent, item, id, file: { versionId: item.versionId, sha256: sha256(bytes) } };
}

test("an imported file may be deleted for ten minutes if the hash on the device is that of the imported data", async () => {
  const { agent, id, file } = await makeImported("imported", 1);
  const { serverTime, answers } = await agent.call(api.edge.askPermits, { items: [{ ...file, reason: "imported" }] });
  const [granted] = answers;
  assert.ok(granted?.answer === "granted");
  assert.equal(granted.expiresAt, serverTime + 600n * SECOND);
  const again = await ask(agent, "imported", file);
  assert.ok(again.answer === "granted" && again.permitId === granted.permitId, "asked again, it is the same permit");

  await agent.report([], { deletions: [{ versionId: file.versionId, because: "imported" }] });
  assert.equal((await admin.call(api.recordings.get, { keyOrId: id })).importStatus, "complete");
  assert.equal(codeOf(await ask(agent, "imported", file)), "Unknown");
});

test("an imported file stays for as long as the deployment's DELETE_SAFETY requires, and the answer says until when", async () => {
  const { agent, file, id } = await makeFresh("fresh", 5);
  const { importedAt } = await admin.call(api.recordings.get, { keyOrId: id });
  for (const reason of ["imported", "space"] as const) {
    const answer = await ask(agent, reason, file);
    assert.ok(answer.answer === "refused" && answer.code === "SafetyPeriod");
    assert.equal(answer.notBefore, importedAt! + 1800n * SECOND);
  }
  clock.aheadNs += 1801n * SECOND;
  assert.equal(codeOf(await ask(await sayHello(cloud, agent), "imported", file)), "granted");
});

slowTest(
  "an imported file stays while its object is not in the store with its size, whatever its row says",
  async () => {
    const { agent, file, id } = await makeImported("objectless", 6);
    const { prisma } = cloud.deps.db;
    const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id } });
    const bytes = await readBlob(await cloud.deps.blobs.open(blobKey!));
    await cloud.deps.blobs.delete(blobKey!);
    for (const reason of ["imported", "space"] as const)
      assert.equal(codeOf(await ask(agent, reason, file)), "ImportNotComplete");
    assert.equal(codeOf(await ask(agent, "prune", file)), "granted", "which needs no import");
    await cloud.deps.blobs.put(blobKey!, inPieces(bytes.subarray(1)));
    assert.equal(codeOf(await ask(agent, "imported", file)), "ImportNotComplete");
    await cloud.deps.blobs.delete(blobKey!);
    await cloud.deps.blobs.put(blobKey!, inPieces(bytes));
    assert.equal(codeOf(await ask(agent, "imported", file)), "granted");
  },
);

test("another hash, no hash, an import that is not complete and a setting that is off are refused, each by its code", async () => {
  const { agent, item, file, id } = await makeImported("doubtful", 2);
  assert.equal(codeOf(await ask(agent, "imported", { ...file, sha256: sha256("other bytes") })), "HashDiffers");
  assert.equal(codeOf(await ask(agent, "imported", { versionId: item.versionId })), "HashDiffers");
  assert.equal(codeOf(await ask(agent, "space", { ...file, sha256: sha256("other bytes") })), "HashDiffers");
  assert.equal(codeOf(await ask(agent, "retention", file)), "SettingOff");
  await admin.call(api.recordings.delete, { keyOrId: id });
  assert.equal(codeOf(await ask(agent, "imported", file)), "ImportNotComplete");
  assert.equal(codeOf(await ask(agent, "space", file)), "ImportNotComplete");
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: false });
  assert.equal(codeOf(await ask(agent, "imported", file)), "SettingOff");
  assert.equal(codeOf(await ask(agent, "prune", file)), "granted");
});

test("a requested file is not deleted under any rule until it was delivered or the request was cancelled", async () => {
  const { agent, item, id, set } = await makeDevice("asked-for");
  await set({ retainRecordingsSeconds: 1, autoDeleteAfterImport: true });
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  for (const reason of ["imported", "retention", "space", "prune"] as const)
    assert.equal(codeOf(await ask(agent, reason, item)), "OpenRequest");
  await admin.call(api.recordings.cancelImport, { keyOrId: id });
  assert.equal(codeOf(await ask(agent, "prune", { versionId: item.versionId })), "granted");
});

test("while a file may be deleted, its edge copy counts as gone and cannot be requested; after the permit ended it can", async () => {
  const { agent, item, id } = await makeDevice("going");
  assert.equal(codeOf(await ask(agent, "prune", { versionId: item.versionId })), "granted");
  await assert.rejects(admin.call(api.recordings.requestImport, { keyOrId: id }), refusedWith("NotFound"));
  clock.aheadNs += 601n * SECOND;
  const again = await sayHello(cloud, agent);
  assert.equal((await admin.call(api.recordings.requestImport, { keyOrId: id })).importStatus, "pending");
  assert.equal(codeOf(await ask(again, "prune", { versionId: item.versionId })), "OpenRequest");
});

test("of an import request and a permit at the same moment exactly one is granted", async () => {
  for (const round of firstCases(3, [0, 1, 2, 3, 4, 5, 6, 7])) {
    const { agent, item, id } = await makeDevice(`race-${round}`);
    const [permit, request] = await Promise.allSettled([
      ask(agent, "prune", { versionId: item.versionId }),
      admin.call(api.recordings.requestImport, { keyOrId: id }),
    ]);
    assert.ok(permit.status === "fulfilled");
    const isPermitted = permit.value.answer === "granted";
    assert.notEqual(isPermitted, request.status === "fulfilled");
  }
});

slowTest(
  "imported data that is deleted while its edge copy goes removes the recording with it; the file, if it is reported again, is a new one",
  async () => {
    const { agent, item, id, file } = await makeImported("both-gone", 3);
    assert.equal(codeOf(await ask(agent, "imported", file)), "granted");
    await admin.call(api.recordings.delete, { keyOrId: id });
    await assert.rejects(admin.call(api.recordings.get, { keyOrId: id }), refusedWith("NotFound"));
    assert.equal(codeOf(await ask(agent, "imported", file)), "NotARecording");
    await agent.report([item]);
    const [fresh] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
    assert.equal(fresh!.importStatus, "none");
  },
);

test("retention counts from the end of the recording, and from when it was first reported to a cloud, in server time", async () => {
  const { agent, item, set } = await makeDevice("retaining");
  await set({ retainRecordingsSeconds: 3600 });
  const young = await ask(agent, "retention", { versionId: item.versionId });
  assert.ok(young.answer === "refused" && young.code === "TooYoung");
  const left = Number((young.notBefore! - clock.nowNs()) / SECOND);
  assert.ok(left > 3590 && left <= 3600, `${left} s`);
  await agent.report([{ ...item, path: "renamed.mcap" }]);
  clock.aheadNs += 3601n * SECOND;
  const again = await sayHello(cloud, agent);
  assert.equal(codeOf(await ask(again, "retention", { versionId: item.versionId })), "granted");

  const recent = recordingItem({ start: clock.nowNs() - 20n * SECOND });
  await again.report([recent]);
  clock.aheadNs += 3595n * SECOND;
  const last = await sayHello(cloud, agent);
  const answer = await ask(last, "retention", { versionId: recent.versionId });
  assert.ok(answer.answer === "refused" && answer.code === "TooYoung");
});

test("a disabled device deletes nothing, and neither does one whose file is no recording or of another device", async () => {
  const { agent, item, set } = await makeDevice("disabled");
  await set({ enabled: false });
  assert.equal(codeOf(await ask(agent, "prune", { versionId: item.versionId })), "DeviceDisabled");
  await set({ enabled: true });
  const { versionId, path, size, modifiedAt, headTailSha256 } = recordingItem();
  const damaged = { versionId, path, size, modifiedAt, headTailSha256, state: "damaged" } as const;
  await agent.report([damaged]);
  assert.equal(codeOf(await ask(agent, "prune", { versionId })), "NotARecording");
  const stranger = await startAgent(cloud, "stranger");
  assert.equal(codeOf(await ask(stranger, "prune", { versionId: item.versionId })), "Unknown");
});

test("an agent with an old lease gets no permit and takes none away", async () => {
  const { agent, item, id } = await makeDevice("stale");
  const newer = await sayHello(cloud, { ...agent, lease: agent.hello.lease });
  await assert.rejects(ask(agent, "prune", { versionId: item.versionId }), refusedWith("LeaseLost"));
  assert.equal((await admin.call(api.recordings.requestImport, { keyOrId: id })).importStatus, "pending");
  assert.equal(codeOf(await ask(newer, "prune", { versionId: item.versionId })), "OpenRequest");
});

test("a refusal cancels an earlier permit at once", async () => {
  const { agent, item, id, set } = await makeDevice("taken-back");
  await ask(agent, "prune", { versionId: item.versionId });
  await set({ enabled: false });
  assert.equal(codeOf(await ask(agent, "prune", { versionId: item.versionId })), "DeviceDisabled");
  assert.equal((await admin.call(api.recordings.requestImport, { keyOrId: id })).importStatus, "pending");
});

test("a restored cloud permits nothing until the agent has listed all its files", async () => {
  const { agent, item } = await makeDevice("restored");
  await cloud.deps.db.prisma.agent.updateMany({
    where: { deviceId: agent.deviceId },
    data: { listedIncarnation: randomUUID() },
  });
  assert.equal(codeOf(await ask(agent, "prune", { versionId: item.versionId })), "Suspended");
  const again = await sayHello(cloud, { ...agent, lease: agent.hello.lease });
  assert.equal(again.hello.isInventoryKnown, false);
  await again.report([item], { listing: { id: "listing-1", isLast: true, count: 1 } });
  assert.equal(codeOf(await ask(again, "prune", { versionId: item.versionId })), "granted");
});

test("the answer to a listing shows an agent that lost its state which of its files are imported, and with which content", async () => {
  const { agent, item, file } = await makeImported("forgetful", 4);
  const other = recordingItem();
  const listing = { id: "listing-1", isLast: true, count: 2 };
  const { imported, importedContents } = await agent.report([item, other], { listing });
  assert.deepEqual(imported, [item.versionId]);
  assert.deepEqual(importedContents, [file]);
  assert.equal((await agent.report([other])).imported, undefined);
});

test("500 files are permitted with one call", async () => {
  const agent = await startAgent(cloud, "many");
  const items = Array.from({ length: 500 }, () => recordingItem());
  await agent.report(items);
  const wanted = items.map(({ versionId }) => ({ versionId, reason: "prune" as const }));
  const { answers } = await agent.call(api.edge.askPermits, { items: wanted });
  assert.equal(answers.filter(({ answer }) => answer === "granted").length, 500);
  assert.equal(new Set(answers.map((one) => one.answer === "granted" && one.permitId)).size, 500);
});

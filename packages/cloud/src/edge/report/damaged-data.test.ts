import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type PermitAnswer } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { checkDeployment } from "../../keeping/integrity/check-deployment.ts";
import { heal } from "../../restoring/adoption/heal.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { overwriteObject, readStoredObjects } from "../../testing/stored-objects.ts";
import { deliver, recordingItem, sayHello, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const DAY_S = 86_400n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock, environment: { DOWNLINK_DELETE_PROOF_AGE: "7d" } });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let seeds = 0;

const check = () => Array.fromAsync(checkDeployment(deps, { readPercent: 100, isRepairing: false, nowMs: Date.now() }));
const get = (keyOrId: string) => admin.call(api.recordings.get, { keyOrId });
const rowOf = (id: string) => prisma.recording.findUniqueOrThrow({ where: { id } });

function makeFile(seed: number, mark = "A"): Promise<Uint8Array> {
  const metadata = [{ name: "mark", metadata: { mark } }];
  return makeMcap({ seed, startNs: BigInt(seed) * 10n ** 12n, durationSeconds: 0.1, metadata });
}

/** Imports a recording from an agent whose device deletes what was imported. */
async function makeImported(name: string) {
  const agent = await startAgent(cloud, name);
  const bytes = await makeFile(++seeds);
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const { id } = recording!;
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  await deliver(agent, item, bytes);
  await eventually(
    () => get(id),
    ({ importStatus }) => importStatus === "complete",
  );
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  const { blobKey } = await rowOf(id);
  return { agent, item, id, bytes, blobKey: blobKey!, file: { versionId: item.versionId, sha256: sha256(bytes) } };
}

type Imported = Awaited<ReturnType<typeof makeImported>>;

function flip({ blobKey, bytes }: Pick<Imported, "blobKey" | "bytes">): Promise<void> {
  const changed = Buffer.from(bytes);
  changed[changed.length >> 1]! ^= 1;
  return overwriteObject(cloud.dataDir, blobKey, changed);
}

async function ask(agent: TestAgent, file: Imported["file"]): Promise<PermitAnswer> {
  const { answers } = await agent.call(api.edge.askPermits, { items: [{ ...file, reason: "imported" }] });
  return answers[0]!;
}

const codeOf = (answer: PermitAnswer) => (answer.answer === "granted" ? "granted" : answer.code);

/** Waits for the request that repairs, and delivers the file. */
async function repair({ agent, item, id, bytes }: Imported) {
  const [queued] = await eventually(
    () => admin.call(api.importQueue.list, { deviceId: agent.deviceId }),
    ({ length }) => length === 1,
  );
  assert.deepEqual([queued!.recordingId, queued!.isRepair], [id, true]);
  await deliver(agent, item, bytes);
  return eventually(
    () => get(id),
    ({ importStatus }) => importStatus === "complete",
  );
}

test("an object that the check finds altered is no proof, and its device is asked for the file, which repairs the recording", async () => {
  const imported = await makeImported("altered");
  const { agent, id, file, blobKey } = imported;
  const before = await get(id);
  const { importId } = await rowOf(id);
  assert.equal(codeOf(await ask(agent, file)), "granted");
  await flip(imported);

  assert.deepEqual(
    (await check()).map(({ kind, subject }) => `${kind}: ${subject}`),
    [`altered object: ${blobKey}`],
  );
  assert.equal((await get(id)).storedDamage?.reason, "altered");
  const { permitId } = await prisma.edgeFile.findFirstOrThrow({ where: { recordingId: id } });
  assert.equal(permitId, null, "the permit that was not used yet is taken back");
  assert.equal(codeOf(await ask(agent, file)), "ImportNotComplete");
  await assert.rejects(
    admin.call(api.exports.create, { recordingId: id }),
    refusedWith("NoStreamableRecordings", /1 damaged in the object store/),
  );

  const repaired = await repair(imported);
  const { importedAt: _, ...facts } = repaired;
  const { importedAt: __, ...factsBefore } = before;
  assert.deepEqual(facts, factsBefore);
  const row = await rowOf(id);
  assert.deepEqual([row.importId, row.storedDamage, row.damagedSinceNs], [importId, null, null]);
  assert.equal(codeOf(await ask(agent, file)), "granted");
  await eventually(
    () => readStoredObjects(cloud.dataDir),
    (objects) => objects.every(({ key }) => key !== blobKey),
  );
  const events = await prisma.outboxEvent.findMany({ where: { type: "recording.damaged" } });
  assert.equal(events.filter(({ payload }) => JSON.stringify(payload).includes(id)).length, 1);
  assert.deepEqual(await check(), []);
});

test("stored bytes that were not read for as long as the setting says are read again before a permit is given", async () => {
  const { agent, id, file } = await makeImported("long-ago");
  clock.aheadNs += 8n * DAY_S * SECOND;
  const later = await sayHello(cloud, agent);
  const first = await ask(later, file);
  assert.ok(first.answer === "refused" && first.code === "SafetyPeriod" && /read now/.test(first.text), first.answer);
  await eventually(
    () => ask(later, file),
    (answer) => answer.answer === "granted",
  );
  assert.ok((await rowOf(id)).verifiedAtNs! > clock.nowNs() - 3600n * SECOND);
});

test("once an object was found damaged, the bytes of others are read again before a device deletes its copy of them", async () => {
  const [whole, hurt] = [await makeImported("whole"), await makeImported("hurt")];
  assert.equal(codeOf(await ask(whole.agent, whole.file)), "granted");
  await flip(hurt);
  await flip(whole);
  await deps.blobs.delete(hurt.blobKey);
  await check();
  assert.equal(codeOf(await ask(whole.agent, whole.file)), "ImportNotComplete", "the check has read it, too");
  const third = await makeImported("third");
  await flip(third);
  await prisma.deployment.update({ where: { id: 1 }, data: { damageSeenAtNs: clock.nowNs() } });
  assert.equal(codeOf(await ask(third.agent, third.file)), "SafetyPeriod");
  await eventually(
    () => ask(third.agent, third.file),
    (answer) => codeOf(answer) === "ImportNotComplete",
  );
  assert.equal((await get(third.id)).storedDamage?.reason, "altered");
});

test("an upload of the same file replaces data that is damaged, and the recording stays the same one", async () => {
  const bytes = await makeFile(++seeds);
  const send = () => uploadFile(cloud, bytes, { filename: "a.mcap", deviceName: "uploads", key: "the key" });
  const { recordingId } = await send();
  const id = recordingId!;
  const { blobKey, importId } = await rowOf(id);
  await overwriteObject(cloud.dataDir, blobKey!, bytes.subarray(0, 100));
  await check();
  await eventually(
    () => get(id),
    ({ importStatus }) => importStatus === "failed",
  );
  const again = await send();
  assert.equal(again.recordingId, id);
  const row = await rowOf(id);
  assert.deepEqual(
    [row.importStatus, row.importId, row.storedDamage, row.key],
    ["complete", importId, null, "the key"],
  );
  assert.notEqual(row.blobKey, blobKey);
  const { link } = await admin.call(api.exports.create, { recordingId: id });
  assert.equal((await fetch(link)).status, 200);
});

test("an upload does not end as a repeat of data that was altered and that nobody has read since", async () => {
  const bytes = await makeFile(++seeds);
  const send = () => uploadFile(cloud, bytes, { filename: "b.mcap", deviceName: "uploads" });
  const { recordingId } = await send();
  const { blobKey } = await rowOf(recordingId!);
  const changed = Buffer.from(bytes);
  changed[60]! ^= 1;
  await overwriteObject(cloud.dataDir, blobKey!, changed);
  clock.aheadNs += 8n * DAY_S * SECOND;
  const again = await send();
  assert.equal(again.recordingId, recordingId);
  const row = await rowOf(recordingId!);
  assert.deepEqual([row.importStatus, row.storedDamage], ["complete", null]);
  assert.notEqual(row.blobKey, blobKey);
});

test("data that is whole again is its recording's again: an object that returned, and one that was put back", async () => {
  const { id, blobKey, bytes, agent } = await makeImported("back");
  await deps.blobs.delete(blobKey);
  await check();
  await eventually(
    () => get(id),
    ({ importStatus }) => importStatus === "pending",
  );
  await overwriteObject(cloud.dataDir, blobKey, bytes);
  await heal(deps, new AbortController().signal);
  const { importStatus, storedDamage } = await get(id);
  assert.deepEqual([importStatus, storedDamage], ["complete", undefined]);
  assert.deepEqual(await admin.call(api.importQueue.list, { deviceId: agent.deviceId }), []);
});

test("an export that meets altered bytes marks the recording", async () => {
  const imported = await makeImported("exported");
  const { link } = await admin.call(api.exports.create, { recordingId: imported.id });
  await flip(imported);
  await fetch(link)
    .then((response) => response.arrayBuffer())
    .catch(() => {});
  await eventually(
    () => get(imported.id),
    ({ storedDamage }) => storedDamage?.reason === "altered",
  );
});

test("a file with other content does not repair a recording, and its device is not asked for it again", async () => {
  const { id, agent, item, bytes, blobKey } = await makeImported("other-content");
  await deps.blobs.delete(blobKey);
  await check();
  await eventually(
    () => get(id),
    ({ importStatus }) => importStatus === "pending",
  );
  const other = await makeFile(seeds, "B");
  assert.equal(other.length, bytes.length);
  await deliver(agent, item, other);
  const refused = await eventually(
    () => get(id),
    ({ importStatus }) => importStatus === "failed",
  );
  assert.deepEqual([refused.failure?.code, refused.storedDamage?.reason], ["ContentMismatch", "missing"]);
  clock.aheadNs += 2n * DAY_S * SECOND;
  await heal(deps, new AbortController().signal);
  assert.equal((await get(id)).importStatus, "failed");
});

test("a recording with the content of a damaged one is deleted only by force", async () => {
  const bytes = await makeFile(++seeds);
  const send = (deviceName: string) => uploadFile(cloud, bytes, { filename: "c.mcap", deviceName });
  const [one, other] = [(await send("first-owner")).recordingId!, (await send("second-owner")).recordingId!];
  assert.notEqual(one, other);
  await deps.blobs.delete((await rowOf(one)).blobKey!);
  await check();
  const remove = (force?: boolean) => admin.call(api.recordings.delete, { keyOrId: other, force });
  await assert.rejects(remove(), refusedWith("Conflict", /this copy is whole/));
  assert.equal((await get(other)).importStatus, "complete");
  await remove(true);
});

test("an export of several recordings has each of them read again, and nothing more where one is known to be damaged", async () => {
  const send = async (filename: string) => {
    const bytes = await makeFile(++seeds);
    const { recordingId } = await uploadFile(cloud, bytes, { filename, deviceName: "two-files" });
    return { bytes, id: recordingId!, blobKey: (await rowOf(recordingId!)).blobKey! };
  };
  const hurt = await send("d.mcap");
  await send("e.mcap");
  const { link } = await admin.call(api.exports.create, { deviceName: "two-files", start: 1n, end: 10n ** 17n });
  await flip(hurt);
  const download = () =>
    fetch(link)
      .then((response) => response.arrayBuffer())
      .catch(() => {});
  await download();
  await eventually(
    () => get(hurt.id),
    ({ storedDamage }) => storedDamage?.reason === "altered",
  );
  const seenAt = async () => (await prisma.deployment.findFirstOrThrow()).damageSeenAtNs;
  const before = await seenAt();
  await download();
  assert.equal(await seenAt(), before);
});

test("a store that does not answer while it is checked casts no doubt on what it has", async () => {
  const { id, agent, file, blobKey } = await makeImported("unreachable");
  const open = async (key: string) => {
    if (key === blobKey) throw new Error("the store does not answer");
    return deps.blobs.open(key);
  };
  const findings = await Array.fromAsync(
    checkDeployment(
      {
        ...deps,
        blobs: new Proxy(deps.blobs, { get: (of, name) => (name === "open" ? open : Reflect.get(of, name)) }),
      },
      { readPercent: 100, isRepairing: false, nowMs: Date.now() },
    ),
  );
  assert.deepEqual(
    findings.filter(({ subject }) => subject === blobKey).map(({ kind }) => kind),
    ["unreadable object"],
  );
  assert.equal((await get(id)).storedDamage, undefined);
  assert.equal(codeOf(await ask(agent, file)), "granted");
});

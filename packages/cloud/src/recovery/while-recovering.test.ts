import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import type { UploadModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import { reconcile } from "../imports/ingest/reconcile.ts";
import { endStream } from "../imports/ingest/stream-uploads.ts";
import { removeOrPutOff } from "../keeping/manifests/remove-or-put-off.ts";
import { sweepBySchedule } from "../keeping/sweep/scheduled-sweep.ts";
import { sweep } from "../keeping/sweep/sweep.ts";
import { confirmDeletion } from "../restoring/adoption/recover-by-hand.ts";
import { inPieces } from "../store/blobs/testing/pieces.ts";
import { untilLockWaits } from "../testing/lock-waits.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { startCloud } from "../testing/start-cloud.ts";
import { deliver, recordingItem, sayHello, sha256, startAgent, type TestAgent } from "../testing/test-agent.ts";
import { createRunningClock } from "../testing/test-clock.ts";
import { untilRecording } from "../testing/upload-file.ts";
import { NotSafeError } from "./held-deployment.ts";
import { endRecovery, openIncarnation } from "./incarnations.ts";
import { goMarkRound } from "./mark-round.ts";
import { MarkNotes } from "./marks.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;
await prisma.$executeRaw`DELETE FROM pgboss.schedule WHERE name = 'walk-store'`; // otherwise this job would end the recovery that the test begins
const { orgId } = await prisma.project.findFirstOrThrow();
const round = () => goMarkRound({ ...deps, marks: new MarkNotes(deps.blobs), findLost: async () => undefined });

async function begin(): Promise<void> {
  await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a test", nowNs: clock.nowNs() }));
  await round();
}

const end = () => withTransaction(deps.db, (tx) => endRecovery(tx, clock.nowNs()));
afterEach(async () => {
  await end();
  await confirmDeletion(deps);
  await prisma.deployment.update({ where: { id: 1 }, data: { recoveredAtNs: null } });
  await round();
});

async function storeObject(): Promise<string> {
  const blobKey = `${orgId}/${newId("upl")}`;
  await deps.blobs.put(blobKey, inPieces(Buffer.alloc(10)));
  return blobKey;
}

const isThere = async (blobKey: string) => (await deps.blobs.stat(blobKey)) !== undefined;

/** Inserts the row of a very old upload whose object exists. */
async function leave(state: UploadModel["state"], kind: UploadModel["kind"] = "parts"): Promise<UploadModel> {
  const { requestId } = await admin.call(api.uploads.create, { filename: "x.mcap", deviceName: "robot" });
  const blobKey = await storeObject();
  const id = blobKey.split("/")[1]!;
  return prisma.upload.create({
    data: { id, orgId, requestId, kind, blobKey, state, createdAtNs: 1n, updatedAtNs: 1n },
  });
}

const stateOf = async ({ id }: { id: string }) => (await prisma.upload.findUniqueOrThrow({ where: { id } })).state;

/** Creates a device whose recording is imported, and whose agent may delete it. */
async function makeImported(name: string) {
  const agent = await startAgent(cloud, name);
  const bytes = await makeMcap({ seed: name.length, durationSeconds: 1 });
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  await deliver(agent, item, bytes);
  await untilRecording(cloud, recording!.id, ["complete"]);
  await admin.call(api.devices.update, {
    nameOrId: agent.deviceId,
    autoDeleteAfterImport: true,
    retainRecordingsSeconds: 1,
  });
  return { agent, item, sha256: sha256(bytes) };
}

async function ask(agent: TestAgent, file: { versionId: string; sha256: string }) {
  const reasons = ["imported", "retention", "prune"] as const;
  const answers = [];
  for (const reason of reasons) {
    const asked = { items: [{ ...file, reason }] };
    const [answer] = (await agent.call(api.edge.askPermits, asked)).answers;
    answers.push(answer!.answer === "granted" ? "granted" : answer!.code);
  }
  return answers;
}

const relist = (agent: TestAgent, item: ReturnType<typeof recordingItem>) =>
  agent.report([item], { listing: { id: randomUUID(), isLast: true, count: 1 } });

test("a device deletes nothing while the cloud recovers, nor by its rules before a day is over or an admin confirms", async () => {
  const { agent, item, sha256 } = await makeImported("deletes");
  clock.aheadNs += 10n * SECOND;
  const file = { versionId: item.versionId, sha256 };
  assert.deepEqual(await ask(agent, file), ["granted", "granted", "granted"]);
  await begin();
  await assert.rejects(ask(agent, file), refusedWith("LeaseLost"));
  const again = await sayHello(cloud, agent);
  await relist(again, item);
  assert.deepEqual(await ask(again, file), ["Suspended", "Suspended", "Suspended"], "the walk is not over");
  await end();
  assert.deepEqual(await ask(again, file), ["Suspended", "Suspended", "granted"]);
  await confirmDeletion(deps);
  assert.deepEqual(await ask(again, file), ["granted", "granted", "granted"]);
});

slowTest("after a day nobody needs to confirm, but an agent that has not listed its files gets no permit", async () => {
  const { agent, item, sha256 } = await makeImported("waits");
  const file = { versionId: item.versionId, sha256 };
  await begin();
  await end();
  clock.aheadNs += DAY + SECOND;
  const again = await sayHello(cloud, agent);
  assert.deepEqual(await ask(again, file), ["Suspended", "Suspended", "Suspended"]);
  await relist(again, item);
  assert.deepEqual(await ask(again, file), ["granted", "granted", "granted"]);
});

slowTest("no permit is given while the store has not confirmed a mark for two minutes", async () => {
  const { agent, item, sha256 } = await makeImported("unconfirmed");
  await prisma.$executeRaw`UPDATE "DeploymentMark" SET "confirmedAtNs" = "confirmedAtNs" - ${121n * SECOND}`;
  const file = { versionId: item.versionId, sha256 };
  assert.deepEqual(await ask(agent, file), ["Suspended", "Suspended", "Suspended"]);
});

test("the removal of an object is delayed while the cloud recovers, and no job fails", async () => {
  await begin();
  const blobKey = await storeObject();
  await withTransaction(deps.db, (tx) => deps.jobs.enqueue(tx, { name: "remove-object", data: { blobKey } }));
  const jobs = () => prisma.$queryRaw<{ state: string; waits: boolean }[]>`
    SELECT state::text, start_after > now() + interval '1 min' AS waits FROM pgboss.job
    WHERE name = 'remove-object.2' AND data->>'blobKey' = ${blobKey} ORDER BY created_on`;
  const found = await eventually(jobs, (all) => all.length === 2 && all[0]!.state === "completed");
  assert.deepEqual(found[1], { state: "created", waits: true });
  assert.ok(await isThere(blobKey));
  await end();
  await removeOrPutOff(deps, blobKey);
  assert.equal(await isThere(blobKey), false);
});

test("nothing is abandoned, cancelled or removed for its age while the cloud recovers, and ages count from the end of that", async () => {
  const abandoned = await leave("abandoned");
  const silent = await leave("open", "stream");
  const { requestId: unused } = await admin.call(api.uploads.create, { filename: "y.mcap", deviceName: "robot" });
  await prisma.importRequest.update({ where: { id: unused }, data: { createdAtNs: 1n } });
  const look = async () => {
    const { state } = await prisma.importRequest.findUniqueOrThrow({ where: { id: unused } });
    return [await stateOf(abandoned), await isThere(abandoned.blobKey), await stateOf(silent), state];
  };
  const asTheyWere = ["abandoned", true, "open", "awaiting"];
  await begin();
  await reconcile(deps);
  clock.aheadNs += 3n * DAY;
  await reconcile(deps);
  assert.deepEqual(await look(), asTheyWere);
  await end();
  await reconcile(deps);
  assert.deepEqual(await look(), asTheyWere, "they have not waited yet");
  clock.aheadNs += 601n * SECOND;
  await reconcile(deps);
  assert.deepEqual(await look(), ["removed", false, "abandoned", "awaiting"]);
  clock.aheadNs += DAY;
  await reconcile(deps);
  assert.equal((await look())[3], "cancelled");
});

test("the bytes of an upload that fails while the cloud recovers are kept until later", async () => {
  const broken = await leave("open", "stream");
  await begin();
  await endStream(deps, broken);
  assert.deepEqual([await stateOf(broken), await isThere(broken.blobKey)], ["open", true]);
  await end();
  await endStream(deps, broken);
  assert.deepEqual([await stateOf(broken), await isThere(broken.blobKey)], ["removed", false]);
});

test("the sweep removes nothing while the cloud recovers and in the week after it", async () => {
  const { blobKey } = await leave("removed");
  const inAMonth = Date.now() + 30 * 86_400_000;
  const sweepAll = (nowMs: number) =>
    Array.fromAsync(sweep(deps, { isDryRun: false, olderThanHours: 168, includesUnknown: false, nowMs }));
  await begin();
  await assert.rejects(sweepAll(inAMonth), NotSafeError);
  await sweepBySchedule(deps, new AbortController().signal);
  assert.ok(await isThere(blobKey));
  const recoveredAtMs = inAMonth - 6 * 86_400_000;
  await withTransaction(deps.db, (tx) => endRecovery(tx, BigInt(recoveredAtMs) * 1_000_000n));
  await sweepAll(inAMonth);
  assert.ok(await isThere(blobKey));
  await sweepAll(inAMonth + 2 * 86_400_000);
  assert.equal(await isThere(blobKey), false);
});

test("the removal of an object ends before another incarnation is opened, and the next removal is refused", async () => {
  const [blobKey, other] = [await storeObject(), await storeObject()];
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: mayGo, resolve: letGo } = Promise.withResolvers<void>();
  const blobs = {
    ...deps.blobs,
    async delete(key: string) {
      arrive();
      await mayGo;
      await deps.blobs.delete(key);
    },
  };
  const removal = removeOrPutOff({ ...deps, blobs }, blobKey);
  await arrived;
  let isOpen = false;
  const opening = begin().then(() => {
    isOpen = true;
  });
  await untilLockWaits(deps.db);
  assert.equal(isOpen, false);
  letGo();
  await Promise.all([removal, opening]);
  assert.equal(await isThere(blobKey), false);
  await removeOrPutOff(deps, other);
  assert.ok(await isThere(other));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { withTransaction } from "../../db/transaction.ts";
import { forgetOldEntries, noteEntries } from "../../recovery/note-entries.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, helloBody } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { listFound } from "../adoption/list-found.ts";
import { startRestorable } from "./testing/start-restorable.ts";

const never = new AbortController().signal;

test("what is created, revoked or deleted is in the store before the answer is sent, without any secret", async (t) => {
  const { admin, notes, deps } = await startRestorable(t);
  const read = async () => {
    const texts = await Promise.all((await notes()).sort().map((key) => deps.blobs.getNote(key)));
    return texts.map((bytes) => JSON.parse(Buffer.from(bytes!).toString()) as { kind: string; subject: string });
  };
  const kindsOf = async (id: string) => (await read()).filter(({ subject }) => subject === id).map(({ kind }) => kind);
  const device = await admin.call(api.devices.create, { name: "robot" });
  assert.deepEqual(await kindsOf(device.id), ["Device.insert"]);
  const { id, token } = await admin.call(api.deviceTokens.create, { deviceId: device.id });
  await admin.call(api.deviceTokens.update, { id, enabled: false });
  await admin.call(api.deviceTokens.delete, { id });
  assert.deepEqual(await kindsOf(id), ["DeviceToken.insert", "DeviceToken.update", "DeviceToken.delete"]);
  assert.ok(!JSON.stringify(await read()).includes(token!));
  await admin.call(api.devices.delete, { nameOrId: device.id });
  assert.deepEqual(await kindsOf(device.id), ["Device.insert", "Device.delete"]);
});

slowTest("a change is answered even if the store accepts nothing, and is written there later", async (t) => {
  const { admin, prisma, deps } = await startRestorable(t);
  const putNote = deps.blobs.putNote;
  deps.blobs.putNote = () => Promise.reject(new Error("EIO"));
  const { id } = await admin.call(api.devices.create, { name: "robot" });
  const isNoted = async () => (await prisma.ledgerEntry.findFirstOrThrow({ where: { subject: id } })).isNoted;
  assert.equal(await isNoted(), false);
  deps.blobs.putNote = putNote;
  await noteEntries(deps);
  assert.equal(await isNoted(), true);
});

slowTest(
  "after a restore a token that was revoked stays revoked, and what was created since the backup exists again",
  async (t) => {
    const { admin, withToken, backup, restore, replay } = await startRestorable(t);
    const { token: revoked, id: revokedId } = await admin.call(api.apiKeys.create, {
      name: "old",
      capabilities: ["*"],
    });
    const limited = await admin.call(api.apiKeys.create, { name: "less", capabilities: ["*"] });
    const { id: disabledId, token: disabled } = await admin.call(api.apiKeys.create, {
      name: "off",
      capabilities: ["*"],
    });
    const gone = await admin.call(api.devices.create, { name: "gone" });
    const copy = await backup();

    await admin.call(api.apiKeys.delete, { id: revokedId });
    await admin.call(api.apiKeys.update, { id: disabledId, enabled: false });
    await admin.call(api.apiKeys.update, { id: limited.id, capabilities: ["devices.list"] });
    await admin.call(api.devices.delete, { nameOrId: gone.id });
    const made = await admin.call(api.devices.create, { name: "made" });
    const { token: enrolled } = await admin.call(api.deviceTokens.create, { deviceId: made.id });
    const brief = await admin.call(api.devices.create, { name: "brief" });
    await admin.call(api.devices.delete, { nameOrId: brief.id });
    const key = await admin.call(api.apiKeys.create, { name: "new", capabilities: ["devices.list"] });
    const project = await admin.call(api.projects.create, { name: "new" });

    await restore(copy);
    await replay();
    for (const token of [revoked!, disabled!])
      await assert.rejects(withToken(token).call(api.devices.list, {}), refusedWith("Unauthenticated"));
    await assert.rejects(withToken(limited.token!).call(api.apiKeys.list, {}), refusedWith("MissingCapability"));
    const names = (await withToken(key.token!).call(api.devices.list, {})).map(({ name }) => name);
    assert.deepEqual(names, ["made"]);
    assert.ok((await admin.call(api.projects.list, {})).some(({ id }) => id === project.id));
    const { device } = await withToken(enrolled!).call(api.edge.hello, helloBody());
    assert.equal(device?.id, made.id);
    const before = await admin.call(api.devices.get, { nameOrId: made.id });
    await replay();
    assert.deepEqual(await admin.call(api.devices.get, { nameOrId: made.id }), before, "once is enough");
  },
);

test("data that was deleted stays deleted after a restore, and its object does not become a recording again", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, deps, backup, restore, replay } = cloud;
  const [kept, deleted] = await Promise.all([1, 2].map((seed) => upload(seed)));
  async function upload(seed: number) {
    const file = await makeMcap({ seed, durationSeconds: 1, startNs: BigInt(seed) * 1_000_000_000_000n });
    const { recordingId } = await uploadFile(cloud, file, { filename: `${seed}.mcap`, deviceName: `robot-${seed}` });
    return prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  }
  const copy = await backup();
  await admin.call(api.recordings.delete, { keyOrId: deleted!.id });
  await restore(copy);
  assert.ok(await prisma.recording.findUnique({ where: { id: deleted!.id } }));
  await replay();
  assert.equal(await prisma.recording.findUnique({ where: { id: deleted!.id } }), null);
  assert.ok(await prisma.recording.findUnique({ where: { id: kept!.id } }));
  await listFound(deps, never);
  const found = await prisma.foundUpload.findMany();
  assert.deepEqual(found, [], "the walk through the store does not list it as lost");
});

slowTest("a recording that was requested before the backup and deleted after it is not requested again", async (t) => {
  const cloud = await startRestorable(t);
  const { admin, prisma, backup, restore, replay } = cloud;
  const { recordingId, requestId } = await askForFile(cloud, "robot");
  const copy = await backup();
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  await restore(copy);
  await replay();
  const { state } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const { importStatus } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
  assert.deepEqual([state, importStatus], ["cancelled", "none"]);
});

test("the ledger is kept for as long as backups are, in the store and in the database", async (t) => {
  const { admin, notes, prisma, deps } = await startRestorable(t);
  await noteEntries(deps);
  const old = await notes();
  const cutoffNs = BigInt(Date.now() + 1) * 1_000_000n;
  await eventually(
    async () => BigInt(Date.now()) * 1_000_000n,
    (nowNs) => nowNs > cutoffNs,
  );
  const { id } = await admin.call(api.devices.create, { name: "later" });
  await forgetOldEntries(deps, cutoffNs);
  assert.ok(old.length > 3);
  assert.equal((await notes()).length, 1);
  assert.deepEqual(
    (await prisma.ledgerEntry.findMany()).map(({ subject }) => subject),
    [id],
  );
});

test("if the operator sets how long backups are kept, an object is removed only when no backup can need it any more", async (t) => {
  const cloud = await startCloud(t, { works: false, environment: { DOWNLINK_BACKUP_RETENTION: "7d" } });
  const { db, jobs } = cloud.deps;
  const remove = (blobKey: string, delaySeconds?: number) =>
    withTransaction(db, (tx) =>
      jobs.enqueue(tx, { name: "remove-object", data: { blobKey }, ...(delaySeconds && { delaySeconds }) }),
    );
  await remove("org/later");
  await remove("org/soon", 60);
  const rows = await db.prisma.$queryRaw<{ key: string; days: number }[]>`
    SELECT data ->> 'blobKey' AS key, round(extract(epoch FROM start_after - created_on) / 86400)::int AS days
    FROM pgboss.job WHERE name = 'remove-object.2' ORDER BY key`;
  assert.deepEqual(rows, [
    { key: "org/later", days: 7 },
    { key: "org/soon", days: 0 },
  ]);
});

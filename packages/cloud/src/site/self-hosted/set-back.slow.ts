import assert from "node:assert/strict";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, readMessages } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { createSite, startConnected } from "../../testing/start-site.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { endOfImport, putFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const DAY = 24n * 3600n * SECOND;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const robot = await admin.call(api.devices.create, { name: "robot" });
const created = await createSite({ after }, cloud, "plant");
const plant = { ...created, inboxDir: `${created.dataDir}-inbox` };
await mkdir(plant.inboxDir);
after(() => rm(plant.inboxDir, { recursive: true }));
const copies = `${plant.dataDir}-copies`;
after(() => rm(copies, { recursive: true, force: true }));
let site = await startConnected(cloud, plant);
after(() => site[Symbol.asyncDispose]());
let minute = 0n;

async function upload() {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1 });
  const file = { filename: "a.mcap", deviceId: robot.id, siteId: plant.siteId };
  const { link, requestId } = await admin.call(api.uploads.create, file);
  assert.equal((await putFile(link, bytes)).status, 200);
  const { recordingId, errorCode } = await endOfImport(cloud, requestId);
  assert.equal(errorCode, null);
  return { bytes, requestId, recordingId: recordingId! };
}

/** Starts the site again, once `change` was made to its folder; an older copy of the folder knows an older lease. */
async function restartAfter(change: () => Promise<void>): Promise<void> {
  const { port } = new URL(site.url);
  await site[Symbol.asyncDispose]();
  await change();
  const where = { siteId: plant.siteId };
  await prisma.siteProcess.update({ where, data: { leaseExpiresAtNs: 0n } });
  site = await startConnected(cloud, { ...plant, port });
  await eventually(
    () => prisma.siteProcess.findUniqueOrThrow({ where }),
    ({ relistId, leaseExpiresAtNs }) => relistId === null && leaseExpiresAtNs > 0n,
  );
}

const save = (name: string) => cp(plant.dataDir, join(copies, name), { recursive: true });

async function putBack(name: string): Promise<void> {
  await rm(plant.dataDir, { recursive: true });
  await cp(join(copies, name), plant.dataDir, { recursive: true });
}

async function filesOfSite(): Promise<number> {
  const names = await readdir(join(plant.dataDir, "objects"), { recursive: true });
  return names.filter((name) => name.includes("+upl_")).length;
}

const statusOf = async (keyOrId: string) => (await admin.call(api.recordings.get, { keyOrId })).importStatus;

test("a site over an older copy of its folder loses no recording for good, and what was deleted stays deleted", async () => {
  const deleted = await upload();
  const kept = await upload();
  await restartAfter(() => save("old"));
  const lost = await upload();
  await admin.call(api.recordings.delete, { keyOrId: deleted.recordingId });
  await eventually(filesOfSite, (count) => count === 2);
  await restartAfter(async () => {
    await save("new");
    await putBack("old");
  });
  assert.deepEqual([await statusOf(kept.recordingId), await statusOf(lost.recordingId)], ["complete", "failed"]);
  await eventually(filesOfSite, (count) => count === 1); // the file of the deleted recording was in the older copy
  const again = await upload();
  await restartAfter(() => putBack("new"));
  assert.deepEqual([await statusOf(lost.recordingId), await statusOf(again.recordingId)], ["complete", "failed"]);
  const { link } = await admin.call(api.exports.create, { recordingId: lost.recordingId });
  const exported = new Uint8Array(await (await fetch(link)).arrayBuffer());
  assert.deepEqual(await readMessages(exported), await readMessages(lost.bytes));
});

test("objects that somebody removed from the store are missed at the next start", async () => {
  const { recordingId } = await upload();
  const { siteObjectKey } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
  const id = siteObjectKey!.split("/")[1]!;
  await restartAfter(async () => {
    const objects = join(plant.dataDir, "objects");
    const names = await readdir(objects, { recursive: true });
    for (const name of names.filter((found) => found.endsWith(`+${id}`))) await rm(join(objects, name));
  });
  assert.equal(await statusOf(recordingId), "failed");
});

test("what lands in the inbox becomes a recording of the site, and what cannot goes under _quarantine/ with the reason", async () => {
  minute += 60n;
  const metadata = [{ name: "downlink", metadata: { deviceName: "robot", key: "from-the-inbox" } }];
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, metadata });
  await writeFile(join(plant.inboxDir, "good.mcap"), bytes);
  await writeFile(join(plant.inboxDir, "cut.mcap"), bytes.subarray(0, bytes.byteLength / 2));
  const names = await eventually(
    () => readdir(plant.inboxDir, { recursive: true }),
    (found) => found.length === 3 && found.includes("_quarantine/cut.mcap.reason.txt"),
  );
  assert.deepEqual(names.sort(), ["_quarantine", "_quarantine/cut.mcap", "_quarantine/cut.mcap.reason.txt"]);
  const recording = await admin.call(api.recordings.get, { keyOrId: "from-the-inbox" });
  assert.deepEqual([recording.site?.id, recording.device?.id, recording.path], [plant.siteId, robot.id, "good.mcap"]);
  const { link } = await admin.call(api.exports.create, { recordingId: recording.id });
  const exported = new Uint8Array(await (await fetch(link)).arrayBuffer());
  assert.deepEqual(await readMessages(exported), await readMessages(bytes));
});

/** Waits until the site was heard of at the time that it is now. */
async function later(byNs: bigint): Promise<void> {
  clock.aheadNs += byNs;
  const nowNs = clock.nowNs();
  await eventually(
    () => prisma.siteProcess.findUniqueOrThrow({ where: { siteId: plant.siteId } }),
    ({ lastSeenAtNs }) => lastSeenAtNs >= nowNs,
  );
}

test("keys change while files are sent and downloaded, and nothing fails", async () => {
  const { recordingId, bytes } = await upload();
  const keys = () => prisma.siteKey.findMany({ where: { siteId: plant.siteId }, orderBy: { createdAtNs: "asc" } });
  const keyOf = (link: string) => new URL(link).searchParams.get("k");
  const startExport = async () => fetch((await admin.call(api.exports.create, { recordingId })).link);
  const assertWhole = async (response: Response) => {
    assert.equal(response.status, 200);
    const exported = new Uint8Array(await response.arrayBuffer());
    assert.deepEqual(await readMessages(exported), await readMessages(bytes));
  };
  const file = { filename: "a.mcap", deviceId: robot.id, siteId: plant.siteId };
  const uploadLink = async () => (await admin.call(api.uploads.create, file)).link;
  const [first] = await keys();

  await later(29n * DAY);
  await eventually(keys, (found) => found.length === 2 && found[1]!.savedAtNs !== null);
  await later((DAY / 24n) * 23n);
  const [running, former] = [await startExport(), await uploadLink()];
  await later((DAY / 24n) * 2n);
  const next = await uploadLink();
  assert.notEqual(keyOf(next), keyOf(former));
  await assertWhole(running);
  for (const link of [former, next]) assert.equal((await putFile(link, bytes)).status, 200);
  await assertWhole(await startExport());

  await later(2n * DAY);
  await eventually(keys, (found) => found.length === 1 && found[0]!.id !== first!.id);
  await assertWhole(await startExport());
  const statusOfFormer = async () => (await putFile(former, bytes)).status;
  await eventually(statusOfFormer, (status) => status === 403); // 409 until the site has heard of its keys
});

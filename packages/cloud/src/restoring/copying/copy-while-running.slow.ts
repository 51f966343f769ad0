import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { heldObjects } from "../../keeping/backup/testing/held-objects.ts";
import { checkDeployment } from "../../keeping/integrity/check-deployment.ts";
import { sweep } from "../../keeping/sweep/sweep.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { askForFile, deliver, recordingItem, sha256, startAgent } from "../../testing/test-agent.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { skipInBucket } from "../../testing/test-store.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { copyExits } from "./copy-exits.ts";
import { openCopy } from "./testing/copy-beside.ts";

const HOUR_MS = 3_600_000;
let seed = 0;

/** A control plane that its test ends. */
async function startEnding(environment: Record<string, string>, dataDir: string) {
  const stack = new AsyncDisposableStack();
  const cloud = await startCloud({ after: (close) => void stack.defer(close) }, { environment, dataDir });
  return { cloud, stop: () => stack.disposeAsync() };
}

async function openDeployment(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "downlink-copy-"));
  t.after(() => rm(root, { recursive: true }));
  const DATABASE_URL = await createTestDatabase(t);
  const [source, target] = ["old", "new"].map((name) => ({ kind: "file", directory: join(root, name) }) as const);
  const start = async (address: StoreAddress & { kind: "file" }) => {
    const started = await startEnding({ DATABASE_URL, DOWNLINK_OBJECTS_DIR: address.directory }, root);
    t.after(started.stop);
    return started;
  };
  return { root, source: source!, target: target!, start };
}

async function upload(cloud: TestCloud): Promise<string> {
  seed += 1;
  const bytes = await makeMcap({ seed, startNs: BigInt(seed) * 10n ** 12n });
  const { recordingId } = await uploadFile(cloud, bytes, { filename: `${seed}.mcap`, deviceName: "robot" });
  return recordingId!;
}

/** A device whose file was imported and may be deleted. */
async function importFrom(cloud: TestCloud, deviceName: string) {
  seed += 1;
  const bytes = await makeMcap({ seed });
  const item = recordingItem({ size: bytes.length });
  const agent = await startAgent(cloud, deviceName);
  await agent.report([item]);
  const [recording] = await cloud.admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const keyOrId = recording!.id;
  await cloud.admin.call(api.recordings.requestImport, { keyOrId });
  await deliver(agent, item, bytes);
  await untilComplete(cloud, keyOrId);
  await cloud.admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  const items = [{ versionId: item.versionId, sha256: sha256(bytes), reason: "imported" as const }];
  return async () => (await agent.call(api.edge.askPermits, { items })).answers[0]!.answer;
}

async function exportOf({ admin }: TestCloud, recordingId: string): Promise<Buffer> {
  const { link } = await admin.call(api.exports.create, { recordingId });
  const answer = await fetch(link);
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

async function keyOf({ deps }: TestCloud, id: string): Promise<string> {
  return (await deps.db.prisma.recording.findUniqueOrThrow({ where: { id } })).blobKey!;
}

/** The check and the sweep, a month later, find nothing. */
async function assertAgree({ deps }: TestCloud): Promise<void> {
  const nowMs = Date.now();
  const options = { readPercent: 100, isRepairing: false, nowMs };
  assert.deepEqual(await Array.fromAsync(checkDeployment(deps, options)), []);
  const swept = sweep(deps, {
    isDryRun: false,
    olderThanHours: 168,
    includesUnknown: true,
    nowMs: nowMs + 720 * HOUR_MS,
  });
  const findings = await Array.fromAsync(swept);
  assert.deepEqual(
    findings.filter(({ outcome }) => outcome !== "removed"),
    [],
  );
}

/** An agent that has opened an upload, and sent nothing yet. */
async function openUpload(cloud: TestCloud) {
  const bytes = await makeMcap({ seed: 99 });
  const { agent, requestId, recordingId, version } = await askForFile(
    cloud,
    "sends-meanwhile",
    recordingItem({ size: bytes.length }),
  );
  const opened = await agent.call(api.edge.openUpload, version);
  const send = async () => {
    await agent.sendParts({ requestId, ...opened }, bytes);
    const { uploadId } = opened;
    await agent.call(api.edge.completeUpload, { requestId, uploadId, parts: [], sha256: sha256(bytes) });
    await untilComplete(cloud, recordingId);
    return keyOf(cloud, recordingId);
  };
  return { send };
}

async function untilComplete({ admin }: TestCloud, keyOrId: string): Promise<void> {
  const ask = () => admin.call(api.recordings.get, { keyOrId });
  await eventually(ask, ({ importStatus }) => importStatus === "complete");
}

/** Deletes a recording; its object is in none of the stores some time later. */
async function removeFromBoth(cloud: TestCloud, id: string, stores: readonly Pick<BlobStore, "stat">[]): Promise<void> {
  const key = await keyOf(cloud, id);
  await cloud.admin.call(api.recordings.delete, { keyOrId: id });
  for (const store of stores)
    await eventually(
      () => isIn(store, key),
      (isThere) => !isThere,
    );
}

test("a deployment moves while it imports, exports and deletes", { skip: skipInBucket() }, async (t) => {
  const { root, source, target, start } = await openDeployment(t);
  const { cloud, stop } = await start(source);
  const [removed, kept] = [await upload(cloud), await upload(cloud)];
  const bytes = await exportOf(cloud, kept);
  const asksOld = await importFrom(cloud, "imported-before");
  const { send } = await openUpload(cloud);
  const { old, fresh, lines, copy } = await openCopy(cloud, { source, target });
  assert.equal(await copy(cloud), copyExits.waiting, lines.join("\n"));
  assert.match(lines.join("\n"), /waiting: 1 process\(es\) with the settings of another store/);
  assert.match(lines.join("\n"), /waiting: 1 uploads that began in the old store are still open/);

  const addedKey = await keyOf(cloud, await upload(cloud));
  assert.deepEqual(
    [await isIn(old, addedKey), await isIn(fresh, addedKey)],
    [false, true],
    "what comes is in the new one",
  );
  const asksNew = await importFrom(cloud, "imported-meanwhile");
  assert.deepEqual([await asksOld(), await asksNew()], ["granted", "granted"]);
  await removeFromBoth(cloud, removed, [old, fresh]);
  const sentKey = await send();
  assert.deepEqual([await isIn(old, sentKey), await isIn(fresh, sentKey)], [true, false], "it ended where it began");
  await assertAgree(cloud);
  const all = (await Array.fromAsync(cloud.deps.blobs.list(""), ({ key }) => key)).sort();
  const backup = { objectsDir: source.directory, place: join(root, "backup") };
  assert.deepEqual(await heldObjects(cloud.deps, backup), all);

  const later = await start(target);
  for (const one of [cloud, later.cloud]) assert.deepEqual(await exportOf(one, kept), bytes);
  await stop();
  await eventually(
    () => copy(later.cloud),
    (exit) => exit === copyExits.done,
  );
  assert.match(lines.at(-1)!, /is empty; the move is over/);
  assert.deepEqual(await Array.fromAsync(old.list("")), []);
  assert.ok(await isIn(fresh, sentKey));
  await assertAgree(later.cloud);
  assert.deepEqual(await exportOf(later.cloud, kept), bytes);
  await upload(later.cloud);
});

async function isIn(store: Pick<BlobStore, "stat">, key: string): Promise<boolean> {
  return (await store.stat(key)) !== undefined;
}

import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { corrupt, makeMcap } from "@downlink/recordings/testing";
import { readOfflineStatus } from "../status/offline-status.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { mountSmall } from "../testing/mount-small.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

test("a recording is found, reported, uploaded on request byte by byte, and its end acknowledged", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const bytes = await makeMcap({
    metadata: [{ name: "downlink", metadata: { key: "run-7", deviceName: "somebody else" } }],
  });
  writeFileSync(join(device.root, "one.mcap"), bytes);
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("the file is reported", () => cloud.at("one.mcap")?.state === "indexed");
  const item = cloud.at("one.mcap");
  assert.ok(item?.state === "indexed");
  assert.deepEqual([item.size, item.format, item.key], [bytes.length, "mcap", "run-7"]);
  await cloud.until("the schemas are sent", () => cloud.schemas.size > 0);

  const requestId = cloud.requestImport("one.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
  assert.deepEqual(cloud.uploads.stored.get(item.versionId), Buffer.from(bytes));
  cloud.advance(requestId, "imported");
  await cloud.until("the end is acknowledged", () => cloud.acknowledged.includes(requestId));
  const status = await agent.until("it is imported", ({ files }) => files.imported === 1);
  assert.equal(status.health, "healthy");
  assert.deepEqual(status.device, {
    id: "dev_1",
    name: "rover-1",
    projectId: "prj_1",
    projectName: "field tests",
    orgId: "org_1",
  });
  await agent.stop();
});

test("files that new patterns leave out after a restart are gone for the cloud, although their versions are known", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (const name of ["left.mcap", "stays.mcap"]) writeFileSync(join(device.root, name), await makeMcap());
  {
    await using agent = startDaemon(settingsFor(device, cloud));
    await agent.until("both were found again and again", ({ files }) => files.reported === 2);
    await agent.stop();
  }
  await using agent = startDaemon(settingsFor(device, cloud, { watchExclude: "left*" }));
  await agent.until("the other is left", ({ files }) => files.reported === 1);
  await cloud.until("the cloud knows", () => cloud.at("left.mcap") === undefined);
  assert.equal(cloud.at("stays.mcap")?.state, "indexed");
});

test("new files are found by notification long before the next scan, and only by scans if notifications are switched off", async () => {
  const ways = { notification: { scanIntervalMs: "1h" }, scan: { usesNotify: "false" } };
  for (const [way, flags] of Object.entries(ways)) {
    using device = makeDevice();
    await using cloud = await FakeCloud.start();
    await using agent = startDaemon(settingsFor(device, cloud, flags));
    await agent.until("the first scan is over", ({ storage }) => storage.lastScanAt !== null);
    await retryWriting(cloud, device, way);
  }
});

/** Writes files until one is found, because the watcher needs a moment to begin. */
async function retryWriting(cloud: FakeCloud, device: Device, way: string): Promise<void> {
  let count = 0;
  const timer = setInterval(() => mkdirSync(join(device.root, `hint-${count++}`)), 50);
  try {
    await writeRecording(device, "new.mcap");
    await cloud.until(`it is found by ${way}`, () => cloud.at("new.mcap") !== undefined);
  } finally {
    clearInterval(timer);
  }
}

test("a file that grows is settling, is indexed once it is finished, and stays the same version meanwhile", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const bytes = await makeMcap({});
  const path = join(device.root, "growing.mcap");
  writeFileSync(path, bytes.slice(0, 5000));
  await using _agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is settling", () => cloud.at("growing.mcap")?.state === "settling");
  const { versionId } = cloud.at("growing.mcap")!;
  appendFileSync(path, bytes.slice(5000, 6000));
  appendFileSync(path, bytes.slice(6000));
  await cloud.until("it is indexed", () => cloud.at("growing.mcap")?.state === "indexed");
  assert.equal(cloud.at("growing.mcap")?.versionId, versionId);
});

test("incomplete, damaged and empty files are reported with their reasons and hold nothing up", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const whole = await makeMcap({ chunkBytes: 20_000 });
  for (const [index, { fileName, bytes }] of corrupt(whole, "x.mcap").entries())
    writeFileSync(join(device.root, `${index}-${fileName}`), bytes);
  writeFileSync(join(device.root, "cut.mcap"), whole.slice(0, -300));
  writeFileSync(join(device.root, "none.mcap"), await makeMcap({ durationSeconds: 0 }));
  writeFileSync(join(device.root, "notes.txt"), "ignored");
  writeFileSync(join(device.root, "z.mcap"), whole);
  await using agent = startDaemon(settingsFor(device, cloud, { incompleteAfterMs: "100ms" }));
  await cloud.until("the good one is indexed", () => cloud.at("z.mcap")?.state === "indexed");
  await agent.until("nothing is young any more", ({ files }) => !files.seen && !files.settling);
  await cloud.until("all is reported", () => [...cloud.files.values()].every(({ state }) => state !== "settling"));
  const cut = cloud.at("cut.mcap");
  assert.ok(cut?.state === "incomplete" && cut.reason?.code === "NoEnd" && cut.salvage);
  assert.equal(cloud.at("none.mcap")?.state, "empty");
  assert.equal(cloud.at("notes.txt"), undefined);
  const others = [...cloud.files.values()].filter((item) => item.state !== "indexed");
  assert.ok(others.length > 10 && others.every((item) => "reason" in item && item.reason?.text));
});

test("a file that may not be read is reported as such, and is indexed once it may be", async (t) => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "locked.mcap");
  const path = join(device.root, "locked.mcap");
  chmodSync(path, 0o000);
  await asOrdinaryUser(t, device, async () => {
    await using agent = startDaemon(settingsFor(device, cloud));
    await cloud.until("it is unreadable", () => cloud.at("locked.mcap")?.state === "unreadable");
    await agent.until("the problem is named", ({ problems }) => problems.some(({ code }) => code === "FileUnreadable"));
    process.seteuid?.(0);
    chmodSync(path, 0o644);
    await cloud.until("it is indexed", () => cloud.at("locked.mcap")?.state === "indexed");
    await agent.until("the problem is over", ({ problems }) => problems.length === 0);
  });
});

const NOBODY = 65_534;

/** Drops the privileges of root for a while, because permissions do not hold for root. */
async function asOrdinaryUser(t: TestContext, device: Device, work: () => Promise<void>): Promise<void> {
  t.after(() => process.seteuid?.(process.getuid?.() ?? 0));
  if (process.getuid?.() === 0) {
    chmodSync(join(device.root, ".."), 0o755);
    mkdirSync(device.stateDir);
    for (const directory of [device.root, device.stateDir]) chownSync(directory, NOBODY, NOBODY);
    process.seteuid?.(NOBODY);
  }
  await work();
}

test("a root without its marker is missing storage: nothing is reported gone, the agent stays, and goes on when it is back", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  const settings = settingsFor(device, cloud);
  await using first = startDaemon(settings);
  await cloud.until("it is reported", () => cloud.files.size === 1);
  const away = `${device.root}-away`;
  renameSync(device.root, away);
  await first.until("storage is missing", ({ problems }) => problems.some(({ code }) => code === "StorageMissing"));
  mkdirSync(device.root); // This is the empty mount point of a card that was pulled out.
  await first.stop();
  await using second = startDaemon(settings);
  const status = await second.until(
    "it is still missing",
    ({ storage, problems }) => storage.isPresent === false && problems.length > 0,
  );
  assert.deepEqual([status.health, status.files], ["degraded", { reported: 1 }]);
  rmSync(device.root, { recursive: true });
  renameSync(away, device.root);
  await writeRecording(device, "b.mcap");
  await cloud.until("the new one is reported too", () => cloud.files.size === 2);
  await second.until("the problem is over", ({ problems }) => problems.length === 0);
});

test("with a full disk under the state directory the agent stays, says so, and records what it found once there is room", async (t) => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  using disk = mountSmall(t, device.stateDir, "1m");
  if (!disk) return;
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  const filler = join(device.stateDir, "filler");
  const { bavail, bsize } = statfsSync(device.stateDir);
  writeFileSync(filler, Buffer.alloc(Number(bavail) * Number(bsize)));
  for (let n = 0; n < 60; n++) await writeRecording(device, `${n}.mcap`, { sizeBytes: 10_000 });
  await agent.until("it says so", ({ problems }) => problems.some(({ code }) => code === "StateUnwritable"));
  rmSync(filler);
  await cloud.until(
    "all is reported",
    () => [...cloud.files.values()].filter(({ state }) => state === "indexed").length === 60,
    20_000,
  );
  await agent.until("the problem is over", ({ problems }) => problems.length === 0);
});

test("status shows the project by its name, also after the agent stopped, and by its id where the control plane gives no name", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await using agent = startDaemon(settingsFor(device, cloud));
  const status = await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  assert.equal(status.device.projectName, "field tests");
  await agent.stop();
  const { stateDir } = device;
  const known = { stateDir, stateGroup: "downlink", apiUrl: undefined, storageRoot: undefined };
  assert.equal(readOfflineStatus(known).device.projectName, "field tests");
  cloud.projectName = undefined;
  cloud.leaseMs = 0;
  using other = makeDevice();
  await using older = startDaemon(settingsFor(other, cloud));
  const { device: shown } = await older.until("it is connected", ({ connection }) => connection.state === "connected");
  assert.deepEqual([shown.projectName, shown.projectId], [null, "prj_1"]);
});

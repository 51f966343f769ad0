import assert from "node:assert/strict";
import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

test("many files arrive in batches of at most 500, each once and all of them", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeMany(device, 620);
  await using agent = startDaemon(settingsFor(device, cloud, { scanIntervalMs: "1h", usesNotify: "false" }));
  await cloud.until("all are reported", () => cloud.files.size === 620, 20_000);
  await agent.until("all is acknowledged", ({ files }) => files.reported === 620);
});

test("an agent whose files the cloud knows reports nothing again after a restart", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeMany(device, 3);
  const settings = settingsFor(device, cloud);
  await using first = startDaemon(settings);
  await first.until("all is acknowledged", ({ files }) => files.reported === 3);
  await first.stop();
  const before = cloud.calls.length;
  await using second = startDaemon(settings);
  await second.until(
    "it has scanned",
    ({ storage, connection }) => storage.lastScanAt !== null && connection.state === "connected",
  );
  await writeRecording(device, "new.mcap", { seed: 9 });
  await cloud.until("the new one is reported", () => cloud.at("new.mcap") !== undefined);
  const reports = cloud.calls.slice(before).filter(({ name }) => name === "report");
  assert.equal(reports.length, 1);
});

test("when cloud and agent disagree, all files are listed: what is missing is added, what is not here goes", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeMany(device, 3);
  const settings = settingsFor(device, cloud);
  await using first = startDaemon(settings);
  await first.until("all is acknowledged", ({ files }) => files.reported === 3);
  await first.stop();
  const [lost] = [...cloud.files.values()];
  cloud.files.delete(lost!.versionId);
  cloud.files.set("ghost".repeat(4), { ...lost!, versionId: "ghost".repeat(4), path: "ghost.mcap" });
  await using _second = startDaemon(settings);
  await cloud.until("they agree", () => cloud.at("ghost.mcap") === undefined && cloud.files.has(lost!.versionId));
  assert.equal(cloud.files.size, 3);
});

test("an agent that lost its state lists only when it has looked at everything: nothing is said to be gone meanwhile", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeMany(device, 40);
  const settings = settingsFor(device, cloud);
  await using first = startDaemon(settings);
  await cloud.until("all are reported", () => cloud.files.size === 40);
  await first.stop();
  rmSync(device.stateDir, { recursive: true });
  cloud.leaseMs = 0;
  const old = new Set(cloud.files.keys());
  let fewest = 40;
  cloud.fault = () => {
    fewest = Math.min(fewest, cloud.files.size);
    return undefined;
  };
  await using _second = startDaemon(settings);
  await cloud.until(
    "the list is new",
    () => cloud.files.size === 40 && [...cloud.files.keys()].every((id) => !old.has(id)),
  );
  assert.equal(fewest, 40);
});

test("a report whose answer is lost is repeated and changes nothing more", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeMany(device, 2);
  let lost = 0;
  cloud.fault = ({ name }) => (name === "report" && lost++ < 2 ? { kind: "loseAnswer" } : undefined);
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("all is acknowledged", ({ files }) => files.reported === 2);
  assert.equal(cloud.files.size, 2);
});

test("one item that the cloud refuses does not keep the others back", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.isItemRefused = ({ path }) => path === "5.mcap";
  await writeMany(device, 12);
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("the others are reported", () => cloud.files.size === 11, 30_000);
  const { problems } = await agent.until("the refusal is named", (status) => status.problems.length > 0);
  assert.match(problems[0]!.detail, /^5\.mcap: /);
});

test("a rename keeps the version under its new path; a deleted file goes", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeMany(device, 2);
  await using _agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("both are reported", () => cloud.files.size === 2);
  const { versionId } = cloud.at("0.mcap")!;
  renameSync(join(device.root, "0.mcap"), join(device.root, "renamed.mcap"));
  await cloud.until("the new name is reported", () => cloud.at("renamed.mcap") !== undefined);
  assert.equal(cloud.at("renamed.mcap")?.versionId, versionId);
  rmSync(join(device.root, "1.mcap"));
  await cloud.until("the other is gone", () => cloud.files.size === 1);
});

async function writeMany(device: Device, count: number): Promise<void> {
  await writeRecording(device, "0.mcap", { sizeBytes: 5000 });
  for (let n = 1; n < count; n++) copyFileSync(join(device.root, "0.mcap"), join(device.root, `${n}.mcap`));
}

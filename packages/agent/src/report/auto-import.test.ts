import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const wants = (cloud: FakeCloud, path: string) => {
  const item = cloud.at(path);
  return item?.state === "indexed" && item.wantsImport === true;
};

test("the report of a file says when it is to be imported without being asked for", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  mkdirSync(join(device.root, "keep"));
  await writeRecording(device, "keep/a.mcap");
  await writeRecording(device, "b.mcap", { seed: 2 });
  await using _agent = startDaemon(settingsFor(device, cloud, { autoImport: "keep/**" }));
  await cloud.until("both are reported", () => cloud.files.size === 2);
  await cloud.until("the one that matches says so", () => wants(cloud, "keep/a.mcap"));
  assert.equal(wants(cloud, "b.mcap"), false);
});

test("files that are known already are told anew when the control plane sets globs, once, also over a restart", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  const settings = settingsFor(device, cloud);
  await using first = startDaemon(settings);
  await cloud.until("it is reported", () => cloud.at("a.mcap") !== undefined);
  assert.equal(wants(cloud, "a.mcap"), false);
  cloud.settings = { ...cloud.settings, autoImport: ["**/*.mcap"] };
  cloud.changed();
  await cloud.until("it is told anew", () => wants(cloud, "a.mcap"));
  await first.stop();
  const told = cloud.calls.filter(({ name }) => name === "report").length;
  await using second = startDaemon(settings);
  await second.until("it runs", ({ health, storage }) => health === "healthy" && storage.lastScanAt !== null);
  await writeRecording(device, "b.mcap", { seed: 2 });
  await cloud.until("the next one is told", () => wants(cloud, "b.mcap"));
  const reports = cloud.calls.filter(({ name }) => name === "report").length - told;
  assert.ok(reports <= 3, `${reports} reports for one file`); // Settling, finished, and its schemas.
});

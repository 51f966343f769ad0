import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { makeMcap } from "@downlink/recordings/testing";
import type { SettingName } from "../settings/settings.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

function siteSettings(device: Device, cloud: FakeCloud, flags: Partial<Record<SettingName, string>> = {}) {
  const { deviceToken: _, ...settings } = settingsFor(device, cloud, { siteToken: cloud.token, ...flags });
  return { ...settings, deviceToken: undefined };
}

async function writeFile(device: Device, path: string, identity: Record<string, string> = {}): Promise<void> {
  mkdirSync(join(device.root, dirname(path)), { recursive: true });
  const metadata = Object.keys(identity).length === 0 ? [] : [{ name: "downlink", metadata: identity }];
  writeFileSync(join(device.root, path), await makeMcap({ metadata, seed: path.length }));
}

async function startSite(): Promise<{ cloud: FakeCloud; device: Device } & AsyncDisposable> {
  const cloud = await FakeCloud.start();
  cloud.site = { id: "site_1", name: "depot" };
  const device = makeDevice();
  return {
    ...{ cloud, device },
    async [Symbol.asyncDispose]() {
      await cloud[Symbol.asyncDispose]();
      device[Symbol.dispose]();
    },
  };
}

test("at a site each file names its device by its metadata record", async () => {
  await using site = await startSite();
  const { cloud, device } = site;
  await writeFile(device, "a.mcap", { deviceId: "dev_7", projectId: "prj_1", key: "k" });
  await writeFile(device, "bb/b.mcap", { deviceName: "rover" });
  await writeFile(device, "ccc/c.mcap");
  await using agent = startDaemon(siteSettings(device, cloud));
  await cloud.until("all are reported", () => cloud.files.size === 3);
  assert.deepEqual(cloud.at("a.mcap")!.device, { id: "dev_7", projectId: "prj_1" });
  assert.deepEqual(cloud.at("bb/b.mcap")!.device, { name: "rover" });
  assert.equal(cloud.at("ccc/c.mcap")!.device, undefined);
  const status = await agent.status();
  assert.deepEqual([status.site, status.device.id], [cloud.site, null]);
});

test("with SITE_DEVICE_FROM_PATH the first directory names the device; a file in the root names its own", async () => {
  await using site = await startSite();
  const { cloud, device } = site;
  await writeFile(device, "rover-1/day/a.mcap", { deviceName: "somebody-else" });
  await writeFile(device, "root.mcap", { deviceName: "rover-2" });
  await using _agent = startDaemon(siteSettings(device, cloud, { takesDeviceFromPath: "true" }));
  await cloud.until("both are reported", () => cloud.files.size === 2);
  assert.deepEqual(cloud.at("rover-1/day/a.mcap")!.device, { name: "rover-1" });
  assert.deepEqual(cloud.at("root.mcap")!.device, { name: "rover-2" });
});

test("a file that belongs to no device is unassigned with the reason, is not reported over and over, and is asked about again after a start", async () => {
  await using site = await startSite();
  const { cloud, device } = site;
  const reason = { code: "DeviceNotFound", text: "Device not found: dev_7" };
  cloud.judgePlace = () => reason;
  await writeFile(device, "a.mcap", { deviceId: "dev_7" });
  const settings = siteSettings(device, cloud);
  {
    await using agent = startDaemon(settings);
    await agent.until("it is unassigned", ({ files }) => files.unassigned === 1);
    assert.equal(cloud.at("a.mcap")!.state, "unassigned");
    await writeFile(device, "bb/another.mcap", { deviceId: "dev_7" });
    await agent.until("so is the next", ({ files }) => files.unassigned === 2);
  }
  const reports = cloud.calls.filter(({ name }) => name === "report").length;
  assert.ok(reports <= 4, `${reports} reports for two files`);
  cloud.judgePlace = () => undefined;
  await using again = startDaemon(settings);
  await again.until("both are reported", ({ files }) => files.reported === 2);
  assert.deepEqual(
    [...cloud.files.values()].map(({ state }) => state),
    ["indexed", "indexed"],
  );
  const hellos = cloud.calls.filter(({ name }) => name === "hello").length;
  assert.equal(hellos, 2, "the inventories agree");
});

test("state of a device is not taken for a site, nor the other way round", async () => {
  await using site = await startSite();
  const { cloud, device } = site;
  {
    await using agent = startDaemon(siteSettings(device, cloud));
    await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  }
  cloud.site = undefined;
  await using other = startDaemon(settingsFor(device, cloud));
  await assert.rejects(other.ended, /belongs to site depot; for a device give DOWNLINK_STATE_DIR an empty directory/);
});

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TRASH_NAME } from "../files/scan.ts";
import { diskAmountOf } from "../settings/disk-amount.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { mountSmall } from "../testing/mount-small.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { toPolicy } from "./quota.ts";

const MB = 1e6;

test("disk space is given as people write it: decimal or binary units, plain bytes, or a share of the disk", () => {
  assert.deepEqual(diskAmountOf("20GB"), { bytes: 20e9 });
  assert.deepEqual(diskAmountOf("1.5 tb"), { bytes: 1.5e12 });
  assert.deepEqual(diskAmountOf("500MiB"), { bytes: 500 * 2 ** 20 });
  assert.deepEqual(diskAmountOf("4096"), { bytes: 4096 });
  assert.deepEqual(diskAmountOf("0"), { bytes: 0 });
  assert.deepEqual(diskAmountOf("12.5%"), { percent: 12.5 });
  for (const text of ["", "GB", "-1GB", "101%", "20 XB", "1e9", "20G B", "99999999TB"])
    assert.throws(() => diskAmountOf(text), /is no amount of disk space/, text);
});

test("a share of a disk whose size is not known limits nothing", () => {
  const quota = { maxDisk: { percent: 50 }, minFree: { bytes: 7 }, prunesUnimported: false };
  const unknown = toPolicy(undefined, quota, undefined);
  assert.deepEqual([unknown.maxDiskBytes, unknown.minFreeBytes], [undefined, 7]);
  assert.equal(toPolicy(undefined, quota, { totalBytes: 1001 }).maxDiskBytes, 500);
});

test("before a small disk is full, recordings that may be deleted make room on it", async (t) => {
  using device = makeDevice();
  using mounted = mountSmall(t, device.root, "8m");
  if (!mounted) return;
  await using cloud = await FakeCloud.start();
  const flags = { minFree: "50%", prunesUnimported: "true" };
  await using agent = startDaemon(settingsFor(device, cloud, flags));
  await agent.until("it has looked at the disk", () => existsSync(join(device.stateDir, "agent.reserve")));
  for (let seed = 1; seed <= 5; seed++) {
    await writeRecording(device, `${seed}.mcap`, { sizeBytes: 1.5 * MB, seed });
    await agent.until("there is room again", () => {
      const { bavail, blocks } = statfsSync(device.root);
      return bavail >= blocks / 2;
    });
  }
  await cloud.until("all that was deleted is reported", () => cloud.deleted.size >= 3);
  assert.ok(readdirSync(device.root).filter((name) => name.endsWith(".mcap")).length >= 2, "no more than was needed");
});

test("a disk that is full to the last byte, with the agent's state on it, gets room again", async (t) => {
  using device = makeDevice();
  using mounted = mountSmall(t, device.root, "8m");
  if (!mounted) return;
  await using cloud = await FakeCloud.start();
  const [root, stateDir] = [join(device.root, "recordings"), join(device.root, "state")];
  mkdirSync(root);
  const same = { ...device, root, stateDir };
  const flags = { minFree: "2MB", prunesUnimported: "true" };
  for (let seed = 1; seed <= 3; seed++) await writeRecording(same, `${seed}.mcap`, { sizeBytes: 1.5 * MB, seed });
  await using agent = startDaemon(settingsFor(same, cloud, flags));
  await cloud.until("all are known", () => cloud.files.size === 3);
  await agent.until("room is kept", () => existsSync(join(stateDir, "agent.reserve")));
  fillUp(join(device.root, "something else"));
  await cloud.until("one is deleted", () => cloud.deleted.size > 0);
});

function fillUp(path: string): void {
  for (let sizeBytes = MB; sizeBytes >= 1; sizeBytes = sizeBytes >> 1) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(sizeBytes), { flag: "a" });
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
  }
}

test("files on a file system below the root go through a trash of their own", async (t) => {
  using device = makeDevice();
  const below = join(device.root, "card");
  using mounted = mountSmall(t, below, "2m");
  if (!mounted) return;
  await using cloud = await FakeCloud.start();
  mkdirSync(join(below, "deep"));
  await writeRecording(device, "card/deep/a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud, { maxDisk: "0", prunesUnimported: "true" }));
  await agent.confirm();
  await cloud.until("it is deleted", () => cloud.deleted.size === 1);
  assert.deepEqual(readdirSync(join(below, TRASH_NAME)), []);
  assert.equal(existsSync(join(below, "deep/a.mcap")), false);
});

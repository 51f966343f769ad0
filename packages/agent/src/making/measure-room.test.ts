import assert from "node:assert/strict";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Quota } from "../deleting/quota.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { mountSmall } from "../testing/mount-small.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { measureRoom } from "./measure-room.ts";

const none: Quota = { maxDisk: undefined, minFree: undefined, prunesUnimported: false };
const MB = 1_000_000;

/** An inventory of files that are here, of these sizes, and of one on a card that is out. */
function inventoryOf(...sizes: readonly number[]) {
  const fileOf = (sizeBytes: number, inode: number) => ({
    state: "imported",
    identity: { device: 0, inode, sizeBytes },
  });
  const files = [...sizes.map(fileOf), { ...fileOf(1e12, 99), state: "away" }] as unknown as TrackedFile[];
  return { files: () => files.values() };
}

test("a twentieth of the disk is left free, or more where the operator wants that", async (t) => {
  using device = makeDevice();
  using disk = mountSmall(t, device.root, "10m");
  if (!disk) return;
  writeFileSync(join(device.root, "a"), Buffer.alloc(2 * MB));
  const { bavail, bsize, blocks } = statfsSync(device.root);
  const [free, total] = [bavail * bsize, blocks * bsize];
  const roomWith = async (quota: Partial<Quota>) =>
    await measureRoom({ inventory: inventoryOf(), quota: { ...none, ...quota } }, device.root, 0);
  const { bytes, why } = await roomWith({});
  assert.equal(Math.round(bytes), Math.round(free - total / 20));
  assert.match(why, /5 % of the disk/);
  assert.equal((await roomWith({ minFree: { bytes: 1000 } })).bytes, bytes);
  const more = await roomWith({ minFree: { bytes: 3 * MB } });
  assert.equal(more.bytes, free - 3 * MB);
  assert.match(more.why, /MIN_FREE_BYTES/);
  assert.ok((await roomWith({ minFree: { percent: 90 } })).bytes < 0);
});

test("with what is written, the recordings stay within the largest size that the operator allows", async () => {
  using device = makeDevice();
  const quota = { ...none, maxDisk: { bytes: 10 * MB } };
  const inventory = inventoryOf(4 * MB, 3 * MB);
  const { bytes, why } = await measureRoom({ inventory, quota }, device.root, 2 * MB);
  assert.equal(bytes, MB);
  assert.match(why, /MAX_DISK_BYTES/);
});

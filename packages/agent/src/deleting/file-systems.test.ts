import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { TRASH_NAME } from "../files/scan.ts";
import { identityOf } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { systemClock } from "../system/clock.ts";
import { mountExfat } from "../testing/mount-exfat.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { createRunningClock } from "../testing/test-clock.ts";
import { createFileSystems } from "./file-systems.ts";
import { createProofs } from "./proofs.ts";

const sha256 = "1".repeat(64);

function trackIn(root: string): { storage: { root: string; device: bigint }; file: TrackedFile } {
  writeFileSync(join(root, "a.mcap"), "bytes");
  const storage = { root, device: statSync(root, { bigint: true }).dev };
  const identity = identityOf(statSync(join(root, "a.mcap"), { bigint: true }), storage.device);
  const rest = { reportedAs: undefined, needsReport: false, revision: 0, foundIn: 0 } as const;
  return { storage, file: { versionId: "v", path: "a.mcap", identity, state: "imported", ...rest } };
}

/** An inventory that knows a hash, whatever it proves. */
const inventory = { hash: () => sha256 };

test("a file system that sets ctime by this machine's clock shows changes: there a stored hash is a proof", async () => {
  using device = makeDevice();
  using fileSystems = createFileSystems(systemClock);
  const { storage, file } = trackIn(device.root);
  const proofs = createProofs({ inventory, fileSystems, clock: systemClock });
  assert.equal(proofs.hashOf(file), undefined, "nobody has tried it");
  const facts = await fileSystems.look(storage, file);
  assert.equal(facts.showsChanges, true);
  assert.equal(proofs.hashOf(file), sha256);
  assert.deepEqual(readdirSync(join(device.root, TRASH_NAME)), []);
});

for (const skewNs of [-2_000_000_000n, 2_000_000_000n])
  test(`a file system whose clock differs by ${skewNs / 1_000_000_000n} s does not: a hash is a proof for ten minutes`, async () => {
    using device = makeDevice();
    const clock = createRunningClock({ skewNs, pace: { uptimeMs: 0 } });
    using fileSystems = createFileSystems(clock);
    const { storage, file } = trackIn(device.root);
    const proofs = createProofs({ inventory, fileSystems, clock });
    const seen = await fileSystems.look(storage, file);
    assert.equal(seen.showsChanges, false);
    assert.equal(proofs.hashOf(file), undefined, "what was kept by another process proves nothing");
    clock.aheadMs += 3_600_000; // A large file takes an hour.
    proofs.stepFor(file, { sha256, begunNs: 0n }, seen);
    await fileSystems.look(storage, file);
    assert.equal(proofs.hashOf(file), sha256);
    assert.equal(proofs.hashOf({ ...file, identity: { ...file.identity } }), undefined, "it was of another identity");
    clock.aheadMs += 599_000;
    await fileSystems.look(storage, file);
    assert.equal(proofs.hashOf(file), sha256);
    clock.aheadMs += 2_000;
    assert.equal(proofs.hashOf(file), undefined);
  });

test("a trash that went and came again may be on another mount: earlier proofs do not count any more", async () => {
  using device = makeDevice();
  const clock = createRunningClock({ skewNs: 5_000_000_000n });
  using fileSystems = createFileSystems(clock);
  const { storage, file } = trackIn(device.root);
  const proofs = createProofs({ inventory, fileSystems, clock });
  const seen = await fileSystems.look(storage, file);
  proofs.stepFor(file, { sha256, begunNs: 0n }, seen);
  rmSync(join(device.root, TRASH_NAME), { recursive: true });
  mkdirSync(join(device.root, TRASH_NAME));
  assert.notEqual((await fileSystems.look(storage, file)).mount, seen.mount);
  assert.equal(proofs.hashOf(file), undefined);
});

test("on a file system that cannot be written nothing is proven for longer than until the next look", async () => {
  using device = makeDevice();
  using fileSystems = createFileSystems(systemClock);
  const { storage, file } = trackIn(device.root);
  const proofs = createProofs({ inventory, fileSystems, clock: systemClock });
  writeFileSync(join(device.root, TRASH_NAME), "in the way");
  const seen = await fileSystems.look(storage, file);
  assert.equal(seen.showsChanges, false);
  proofs.stepFor(file, { sha256, begunNs: 0n }, seen);
  await fileSystems.look(storage, file);
  assert.equal(proofs.hashOf(file), undefined);
});

test("exFAT shows no changes, and proofs on it do not outlive its mount, for which the kernel reuses the numbers", async (t) => {
  using device = makeDevice();
  using card = mountExfat(t, join(device.root, "card"));
  if (!card) return;
  using fileSystems = createFileSystems(systemClock);
  const { storage, file } = trackIn(join(device.root, "card"));
  const proofs = createProofs({ inventory, fileSystems, clock: systemClock });
  const seen = await fileSystems.look(storage, file);
  assert.equal(seen.showsChanges, false);
  proofs.stepFor(file, { sha256, begunNs: 0n }, seen);
  assert.equal(proofs.hashOf(file), sha256);
  card.remount();
  await eventually(
    () => proofs.hashOf(file),
    (hash) => hash === undefined,
  );
  assert.equal((await fileSystems.look(storage, file)).showsChanges, false);
  assert.equal(proofs.hashOf(file), undefined);
});

test("facts about a card do not hold for the next one at the same place, though its device has the same number", async () => {
  using device = makeDevice();
  const clock = createRunningClock({ skewNs: 2_000_000_000n });
  using fileSystems = createFileSystems(clock);
  const { storage, file } = trackIn(device.root);
  const proofs = createProofs({ inventory, fileSystems, clock });
  proofs.stepFor(file, { sha256, begunNs: 0n }, await fileSystems.look(storage, file));
  assert.equal(proofs.hashOf(file), sha256);
  fileSystems.forget();
  assert.equal(proofs.hashOf(file), undefined, "nobody has tried it");
  await fileSystems.look(storage, file);
  assert.equal(proofs.hashOf(file), undefined, "it may have been changed elsewhere meanwhile");
});

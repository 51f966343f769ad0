// Stored objects are damaged at random, among imports, checks, exports, permits, deletions and repairs. An object is damaged only as long as its
// device has the file: from then on the device must keep it until the store has it whole again. Each deletion on a device is compared with the
// bytes in the store at that moment. Only this is left out: bytes that were altered after they were last read, and that nothing has read since.
// They are read by something, or the time for which a reading counts as proof passes, before the device asks again.

import assert from "node:assert/strict";
import { api, edgeLimits } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { reindexRecording } from "../../imports/ingest/reindex-recording.ts";
import { checkDeployment } from "../../keeping/integrity/check-deployment.ts";
import { sweep } from "../../keeping/sweep/sweep.ts";
import { heal } from "../../restoring/adoption/heal.ts";
import type { TestCloud } from "../../testing/start-cloud.ts";
import { overwriteObject, readStoredObjects } from "../../testing/stored-objects.ts";
import { deliver, recordingItem, sayHello, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import type { RunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const DEVICES = 3;
/** A check reads every object, so that a world with more files takes longer. */
const MOST_FILES = 24;
const never = new AbortController().signal;

interface Device {
  readonly name: string;
  agent: TestAgent;
}

interface DeviceFile {
  readonly device: Device;
  readonly item: ReturnType<typeof recordingItem>;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly recordingId: string;
  isOnDevice: boolean;
}

interface World {
  readonly cloud: TestCloud;
  readonly clock: RunningClock;
  readonly random: () => number;
  readonly devices: readonly Device[];
  readonly files: DeviceFile[];
  /** The number of files so far. */
  imported: number;
  readonly counts: Map<string, number>;
}

/** Returns how often each thing was done. Rejects if a content is nowhere whole, or a recording does not come to be whole again. */
export async function surviveDamage(
  cloud: TestCloud,
  clock: RunningClock,
  { random, rounds }: { readonly random: () => number; readonly rounds: number },
): Promise<ReadonlyMap<string, number>> {
  const devices: Device[] = [];
  for (let number = 0; number < DEVICES; number += 1) devices.push(await addDevice(cloud, `damaged-${number}`));
  const world: World = { cloud, clock, random, devices, files: [], imported: 0, counts: new Map() };
  for (let round = 0; round < rounds; round += 1) {
    const [name, act] = draw(random, actions);
    world.counts.set(name, (world.counts.get(name) ?? 0) + 1);
    await act(world).catch((error: Error) => {
      throw new Error(`round ${round}, ${name}: ${error.message}`, { cause: error });
    });
  }
  await settle(world);
  return world.counts;
}

async function addDevice(cloud: TestCloud, name: string): Promise<Device> {
  const agent = await startAgent(cloud, name);
  await cloud.admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  return { name, agent };
}

type Act = (world: World) => Promise<void>;

const actions: readonly (readonly [string, Act])[] = [
  ["import", importOne],
  ["import", importOne],
  ["damage", damageAndSee],
  ["damage", damageAndSee],
  ["damage", damageAndSee],
  ["deliver", deliverWanted],
  ["deliver", deliverWanted],
  ["delete", deleteOnDevice],
  ["delete", deleteOnDevice],
  ["upload", uploadSame],
  ["check", check],
  ["heal", ({ cloud }) => heal(cloud.deps, never)],
  ["two hours pass", (world) => passTime(world, 7200n * SECOND_NS)],
];

function draw<T>(random: () => number, of: readonly T[]): T {
  return of[Math.floor(random() * of.length)]!;
}

async function importOne(world: World): Promise<void> {
  const { cloud, devices, files, random } = world;
  if (files.length >= MOST_FILES) await forgetDeleted(world);
  const device = draw(random, devices);
  const seed = ++world.imported;
  const bytes = await makeMcap({ seed, startNs: BigInt(seed) * 10n ** 12n, durationSeconds: 0.1 });
  const item = recordingItem({ size: bytes.length, path: `${seed}.mcap` });
  await device.agent.report([item]);
  const [recording] = await cloud.admin.call(api.recordings.list, { deviceId: device.agent.deviceId, path: item.path });
  const file = { device, item, bytes, sha256: sha256(bytes), recordingId: recording!.id, isOnDevice: true };
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: file.recordingId });
  files.push(file);
  await deliverAll({ ...file, cloud });
}

/** Each of these was compared with the store when its device deleted it. */
async function forgetDeleted({ cloud, files }: World): Promise<void> {
  for (const file of files.filter(({ isOnDevice }) => !isOnDevice)) {
    await assertStored({ cloud }, file);
    await cloud.admin.call(api.recordings.delete, { keyOrId: file.recordingId });
    files.splice(files.indexOf(file), 1);
  }
}

async function deliverAll({ cloud, device, item, bytes, recordingId }: DeviceFile & { readonly cloud: TestCloud }) {
  await deliver(device.agent, item, bytes);
  await untilStatus(cloud, recordingId, "complete");
}

function untilStatus({ deps }: TestCloud, id: string, status: string) {
  return eventually(
    () => deps.db.prisma.recording.findUniqueOrThrow({ where: { id } }),
    ({ importStatus }) => importStatus === status,
  );
}

const rowOf = ({ cloud }: World, { recordingId: id }: DeviceFile) =>
  cloud.deps.db.prisma.recording.findUniqueOrThrow({ where: { id } });

/** An agent sends what it is asked for, and has. */
async function deliverWanted(world: World): Promise<void> {
  for (const device of world.devices) {
    const { work } = await device.agent.call(api.edge.work, {});
    for (const { versionId, stage } of work.imports) {
      const file = world.files.find(({ item, isOnDevice }) => isOnDevice && item.versionId === versionId);
      if (file && stage === "deliver") await deliverAll({ ...file, cloud: world.cloud });
    }
  }
}

/** A permit is asked for, perhaps something happens, and then the file is deleted unless it is wanted. */
async function deleteOnDevice(world: World): Promise<void> {
  const file = draw(world.random, world.files);
  if (!file?.isOnDevice) return;
  const { agent } = file.device;
  const { versionId } = file.item;
  const asked = { items: [{ versionId, sha256: file.sha256, reason: "imported" as const }] };
  const { answers } = await agent.call(api.edge.askPermits, asked);
  if (answers[0]?.answer !== "granted") return;
  if (world.random() < 0.3) await damage(world, file).then(() => check(world));
  const { work } = await agent.call(api.edge.work, {});
  if (work.imports.some((wanted) => wanted.versionId === versionId && wanted.stage === "deliver")) return;
  await assertStored(world, file);
  file.isOnDevice = false;
  count(world, "deleted on the device");
  await agent.report([], { deletions: [{ versionId, because: "imported" }] });
}

async function assertStored({ cloud }: Pick<World, "cloud">, file: DeviceFile): Promise<void> {
  const stored = await readStoredObjects(cloud.dataDir);
  assert.ok(
    stored.some(({ sha256: found }) => found === file.sha256),
    `the content of ${file.item.path} (${file.recordingId}) is nowhere whole`,
  );
}

function count({ counts }: World, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Objects of files that their devices have. */
async function damageAndSee(world: World): Promise<void> {
  const here = world.files.filter(({ isOnDevice }) => isOnDevice);
  if (here.length === 0) return;
  const isPlain = await damage(world, draw(world.random, here), draw(world.random, here));
  if (!isPlain) await draw(world.random, seers)(world);
}

const seers: readonly Act[] = [check, exportAll, reindexAll, (world) => passTime(world, 8n * DAY_NS), loseAnother];

/** Damages the object of a file. Returns whether its row shows that without its bytes being read. */
async function damage(world: World, file: DeviceFile, other = file): Promise<boolean> {
  const { cloud, random } = world;
  const { blobKey, importStatus, storedDamage } = await rowOf(world, file);
  if (blobKey === null || importStatus !== "complete" || storedDamage !== null) return true;
  const kind = draw(random, ["flip", "cut", "remove", "swap"] as const);
  count(world, kind);
  const changed = Buffer.from(file.bytes);
  if (kind === "remove") await cloud.deps.blobs.delete(blobKey);
  else if (kind === "cut") await overwriteObject(cloud.dataDir, blobKey, changed.subarray(0, changed.length >> 1));
  else if (kind === "flip") {
    changed[Math.floor(random() * changed.length)]! ^= 1 << Math.floor(random() * 8);
    await overwriteObject(cloud.dataDir, blobKey, changed);
  } else await swap(world, file, other);
  return kind === "remove" || kind === "cut";
}

/** Both devices have their files, so that both objects may be wrong. */
async function swap(world: World, file: DeviceFile, other: DeviceFile): Promise<void> {
  for (const [one, bytes] of [[file, other.bytes] as const, [other, file.bytes] as const]) {
    const { blobKey } = await rowOf(world, one);
    if (blobKey !== null) await overwriteObject(world.cloud.dataDir, blobKey, bytes);
  }
}

async function check({ cloud }: World): Promise<void> {
  const options = { readPercent: 100, isRepairing: false, nowMs: Date.now() };
  for await (const { kind } of checkDeployment(cloud.deps, options)) assert.notEqual(kind, "wrong state");
}

/** An export reads what it sends, and that may not be the byte that was changed. */
async function exportAll(world: World): Promise<void> {
  const { cloud, files } = world;
  for (const { recordingId } of files) {
    const made = await cloud.admin.call(api.exports.create, { recordingId }).catch(() => undefined);
    if (made)
      await fetch(made.link)
        .then((response) => response.arrayBuffer())
        .catch(() => {});
  }
  await check(world);
}

async function reindexAll({ cloud, files }: World): Promise<void> {
  for (const { recordingId } of files)
    await reindexRecording(cloud.deps, { recordingId, isForced: true, signal: never }).catch(() => {});
}

/** An object that the sweep misses is a sign of trouble: everything is read again before it proves anything. */
async function loseAnother(world: World): Promise<void> {
  await importOne(world);
  const { blobKey } = await rowOf(world, world.files.at(-1)!);
  await world.cloud.deps.blobs.delete(blobKey!);
  const options = { isDryRun: true, olderThanHours: 168, includesUnknown: false, nowMs: Date.now() };
  await Array.fromAsync(sweep(world.cloud.deps, options));
}

async function passTime({ cloud, clock, devices }: World, ns: bigint): Promise<void> {
  clock.aheadNs += ns;
  for (const device of devices) device.agent = await sayHello(cloud, device.agent);
}

async function uploadSame({ cloud, files, random }: World): Promise<void> {
  const file = draw(random, files);
  if (!file) return;
  const body = { filename: file.item.path, deviceName: file.device.name };
  const { errorCode } = await uploadFile(cloud, file.bytes, body);
  assert.equal(errorCode, null);
}

/** Nothing is damaged any more: what devices are asked for arrives, and everything is whole. */
async function settle(world: World): Promise<void> {
  const { cloud } = world;
  await check(world);
  const { prisma } = cloud.deps.db;
  const isWhole = async () => {
    await deliverWanted(world);
    const left = await prisma.recording.count({
      where: { OR: [{ importStatus: { not: "complete" } }, { storedDamage: { not: null } }] },
    });
    if (left > 0)
      await passTime(world, BigInt(edgeLimits.permitSeconds) * SECOND_NS + DAY_NS).then(() => heal(cloud.deps, never));
    return left;
  };
  await eventually(isWhole, (left) => left === 0);
  for (const file of world.files) await assertStored(world, file);
  const options = { readPercent: 100, isRepairing: false, nowMs: Date.now() };
  assert.deepEqual(await Array.fromAsync(checkDeployment(cloud.deps, options)), []);
}

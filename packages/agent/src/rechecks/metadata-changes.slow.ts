import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { EdgeItem } from "@downlink/protocol";
import { untilTaken } from "../testing/deletion-scene.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, type RunningDaemon, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const PART_BYTES = 64 * 1024;

interface Scene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly bytes: Buffer;
  readonly agent: RunningDaemon;
  readonly start: () => RunningDaemon;
  readonly path: string;
  readonly versionId: string;
}

/** Makes a device with one recording of about ten parts that the cloud knows. */
async function withRecording(work: (scene: Scene) => Promise<void>): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const bytes = await writeRecording(device, "a.mcap", { sizeBytes: 10 * PART_BYTES });
  const start = () => startDaemon(settingsFor(device, cloud, { autoImport: "*.none" }));
  await using agent = start();
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  const path = join(device.root, "a.mcap");
  await work({ device, cloud, bytes, agent, start, path, versionId: cloud.at("a.mcap")!.versionId });
}

const later = new Date(Date.now() + 3_600_000);

/** Changes of everything but the content: after each of them it is still the same version. */
const changes: readonly (readonly [string, (path: string) => void])[] = [
  ["chmod", (path) => chmodSync(path, 0o640)],
  ["chown", (path) => chownSync(path, process.getuid!() === 0 ? 1000 : process.getuid!(), process.getgid!())],
  ["ln", (path) => linkSync(path, `${path}.kept`)],
  ["touch", (path) => utimesSync(path, later, later)],
  ["cp -a over it, as onto a new card or on a file system with other inode numbers after each mount", copyOver],
  ["cp over it", (path) => copyOver(path, [])],
];

function copyOver(path: string, flags: readonly string[] = ["-a"]): void {
  execFileSync("cp", [...flags, path, `${path}.copy`]);
  renameSync(`${path}.copy`, path);
}

/** Overwrites some bytes in the middle, as repair tools do. */
function repair(path: string, { at = 0.5, keepsTime = false } = {}): Buffer {
  const { size } = statSync(path);
  const times = `${path}.times`;
  execFileSync("touch", ["-r", path, times]);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(8, 0x5a), 0, 8, Math.floor(size * at));
  closeSync(file);
  if (keepsTime) execFileSync("touch", ["-r", times, path]);
  rmSync(times);
  return readFileSync(path);
}

/** Holds back the given part and all later ones until they are released. */
function holdParts(cloud: FakeCloud, from: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  cloud.gate = ({ name, path }) => (name === "put" && Number(path.split("/").at(-1)) >= from ? promise : undefined);
  const release = () => {
    cloud.gate = () => undefined;
    resolve();
  };
  return release;
}

async function importWhole({ cloud, versionId }: Scene): Promise<void> {
  const requestId = cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
  cloud.advance(requestId, "imported");
  await cloud.until("that is acknowledged", () => cloud.acknowledged.includes(requestId));
}

describe("a change of anything but the content", { concurrency: 4 }, () => {
  for (const [what, change] of changes) {
    test(`${what}: the version stays, and its import goes through`, async () => {
      await withRecording(async (scene) => {
        const { cloud, versionId, bytes, path } = scene;
        change(path);
        await untilTaken(scene, "a.mcap");
        cloud.requestImport("a.mcap");
        await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
        assert.ok(cloud.uploads.stored.get(versionId)?.equals(bytes));
        assert.deepEqual([cloud.failures, cloud.at("a.mcap")?.versionId], [[], versionId]);
      });
    });

    test(`${what} in the middle of an upload: it goes on, and nothing that was acknowledged is sent again`, async () => {
      await withRecording(async (scene) => {
        const { cloud, versionId, bytes, path } = scene;
        const release = holdParts(cloud, 5);
        const requestId = cloud.requestImport("a.mcap");
        await cloud.until("four parts are durable", () => cloud.uploads.durable(requestId) === 4);
        change(path);
        await untilTaken(scene, "a.mcap");
        release();
        await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
        assert.ok(cloud.uploads.stored.get(versionId)?.equals(bytes));
        const { received } = cloud.uploads;
        for (let number = 1; number <= 4; number++) assert.equal(received.filter((part) => part === number).length, 1);
        assert.deepEqual(cloud.failures, []);
      });
    });

    test(`${what} of an imported file: it stays imported, and is not sent again`, async () => {
      await withRecording(async (scene) => {
        const { cloud, versionId, path, agent } = scene;
        await importWhole(scene);
        const sent = cloud.uploads.received.length;
        change(path);
        await untilTaken(scene, "a.mcap");
        await agent.until("it is imported", ({ files }) => files.imported === 1);
        assert.deepEqual([cloud.at("a.mcap")?.versionId, cloud.uploads.received.length], [versionId, sent]);
      });
    });
  }
});

describe("a change of anything but the content, at other times", { concurrency: 4 }, () => {
  testInterruptions();
  testWhatIsReportedAndRead();
});

function testInterruptions(): void {
  test("it is decided after a restart as well, whatever was under way", async () => {
    await withRecording(async (scene) => {
      const { cloud, versionId, path, agent, start, bytes } = scene;
      await agent.stop();
      copyOver(path);
      utimesSync(path, later, later);
      cloud.requestImport("a.mcap");
      await using _again = start();
      await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
      assert.ok(cloud.uploads.stored.get(versionId)?.equals(bytes));
    });
  });

  test("a root that was away and is back with other inode numbers holds the same versions", async () => {
    await withRecording(async (scene) => {
      const { cloud, versionId, device, agent } = scene;
      cloud.requestImport("a.mcap");
      await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
      renameSync(device.root, `${device.root}.old`);
      await agent.until("it is missed", ({ problems }) => problems.some(({ code }) => code === "StorageMissing"));
      execFileSync("cp", ["-a", `${device.root}.old`, device.root]);
      rmSync(`${device.root}.old`, { recursive: true });
      await untilTaken(scene, "a.mcap");
      assert.deepEqual([[...cloud.files.keys()], cloud.failures], [[versionId], []]);
    });
  });
}

function testWhatIsReportedAndRead(): void {
  test("a new mode is not reported, a new time is reported for the same version", async () => {
    await withRecording(async (scene) => {
      const { cloud, versionId, path } = scene;
      const reported: EdgeItem[] = [];
      cloud.isItemRefused = (item) => reported.push(item) === 0;
      chmodSync(path, 0o600);
      await untilTaken(scene, "a.mcap");
      utimesSync(path, later, later);
      const { mtimeNs } = statSync(path, { bigint: true });
      await cloud.until("it is the new one", () => cloud.files.get(versionId)?.modifiedAt === mtimeNs);
      assert.deepEqual(
        reported.map((item) => [item.versionId, item.modifiedAt]),
        [[versionId, mtimeNs]],
      );
    });
  });

  test("two files with the same content stay two, whichever of them is touched", async () => {
    await withRecording(async (scene) => {
      const { cloud, path, versionId } = scene;
      execFileSync("cp", ["-a", path, path.replace("a.mcap", "b.mcap")]);
      await cloud.until("both are known", () => cloud.at("b.mcap") !== undefined);
      const twin = cloud.at("b.mcap")!.versionId;
      copyOver(path);
      await untilTaken(scene, "a.mcap");
      assert.deepEqual([cloud.at("a.mcap")?.versionId, cloud.at("b.mcap")?.versionId], [versionId, twin]);
    });
  });
}

describe("a change of the content that leaves the size", { concurrency: 4 }, () => {
  testRepairsDuringUploads();
  testRepairsOfImportedFiles();
  testRepairsOfOtherFiles();
});

function testRepairsDuringUploads(): void {
  for (const keepsTime of [false, true]) {
    const how = keepsTime ? "with its time restored" : "with a new time";
    test(`a repair in the middle ${how} is never mixed into an upload that has sent those bytes`, async () => {
      await withRecording(async (scene) => {
        const { cloud, versionId, path } = scene;
        const release = holdParts(cloud, 8);
        const requestId = cloud.requestImport("a.mcap");
        await cloud.until("seven parts are durable", () => cloud.uploads.durable(requestId) === 7);
        const repaired = repair(path, { keepsTime });
        release();
        await cloud.until("the request ends", () => cloud.failures.length === 1);
        assert.deepEqual(cloud.failures, [{ requestId, code: "FileChanged" }]);
        await cloud.until("another version is known", () => (cloud.at("a.mcap")?.versionId ?? versionId) !== versionId);
        const fresh = cloud.at("a.mcap")!.versionId;
        cloud.requestImport("a.mcap");
        await cloud.until("it is stored", () => cloud.uploads.stored.has(fresh));
        assert.ok(cloud.uploads.stored.get(fresh)?.equals(repaired));
        assert.equal(cloud.uploads.stored.has(versionId), false);
      });
    });
  }
}

function testRepairsOfImportedFiles(): void {
  for (const keepsTime of [false, true])
    test(`an imported file is another version, with ${keepsTime ? "its time restored" : "a new time"}`, async () => {
      await withRecording(async (scene) => {
        const { cloud, versionId, path } = scene;
        await importWhole(scene);
        repair(path, { keepsTime });
        await cloud.until("another version is known", () => (cloud.at("a.mcap")?.versionId ?? versionId) !== versionId);
        assert.equal(cloud.files.has(versionId), false);
      });
    });
}

function testRepairsOfOtherFiles(): void {
  test("an import that was asked for again sends nothing else under the old version", async () => {
    await withRecording(async (scene) => {
      const { cloud, versionId, path, bytes } = scene;
      await importWhole(scene);
      cloud.uploads.stored.clear();
      repair(path, { keepsTime: true });
      await untilTaken(scene, "a.mcap");
      cloud.requestImport("a.mcap");
      await cloud.until("the request ends", () => cloud.failures.length === 1 || cloud.uploads.stored.size > 0);
      assert.equal(cloud.failures[0]?.code, "FileChanged");
      assert.equal(cloud.uploads.stored.get(versionId)?.equals(bytes) ?? true, true);
    });
  });

  for (const keepsTime of [false, true])
    test(`where nothing of a file was sent, head, tail and summary show the change, with ${keepsTime ? "its time restored" : "a new time"}`, async () => {
      await withRecording(async (scene) => {
        const { cloud, versionId, path } = scene;
        repair(path, { at: 0.001, keepsTime });
        await cloud.until("another version is known", () => cloud.at("a.mcap")?.versionId !== versionId);
      });
    });
}

test("an agent that lost its state learns what is stored of its files: touched, they stay imported", async () => {
  await withRecording(async (scene) => {
    const { cloud, agent, device, start, path, bytes } = scene;
    await importWhole(scene);
    await agent.stop();
    for (const name of readdirSync(device.stateDir).filter((file) => file.startsWith("agent.db")))
      rmSync(join(device.stateDir, name));
    Object.assign(cloud, { leaseMs: 0, isImported: () => true });
    cloud.contentOf = () => createHash("sha256").update(bytes).digest("hex");
    await using again = start();
    await again.until("it is imported", ({ files }) => files.imported === 1);
    const { versionId } = cloud.at("a.mcap")!;
    utimesSync(path, later, later);
    await untilTaken({ ...scene, agent: again }, "a.mcap");
    repair(path);
    await cloud.until("another version is known", () => (cloud.at("a.mcap")?.versionId ?? versionId) !== versionId);
  });
});

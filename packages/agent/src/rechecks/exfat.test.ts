import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Clock } from "../system/clock.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { mountExfat } from "../testing/mount-exfat.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { createRunningClock } from "../testing/test-clock.ts";

interface Scene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly path: string;
  readonly start: () => ReturnType<typeof startDaemon>;
  readonly remount: () => void;
}

/** The test runs on a real exFAT where one can be mounted, and on a file system that shows no changes because of the clock. */
const fileSystems: readonly (readonly [
  string,
  (t: TestContext, device: Device) => (Disposable & { remount(): void }) | undefined,
  Clock,
])[] = [
  ["exFAT", (t, device) => mountExfat(t, device.root), createRunningClock()],
  [
    "a file server with another clock",
    () => ({ remount: () => undefined, [Symbol.dispose]: () => undefined }),
    createRunningClock({ skewNs: 3_600_000_000_000n }),
  ],
];

for (const [fileSystem, mount, clock] of fileSystems) {
  const onFileSystem = (promise: string, work: (scene: Scene) => Promise<void>) =>
    test(`on ${fileSystem}, ${promise}`, async (t) => {
      using device = makeDevice();
      using card = mount(t, device);
      if (!card) return;
      await using cloud = await FakeCloud.start();
      await writeRecording(device, "a.mcap", { sizeBytes: 640 * 1024 });
      const start = () => startDaemon(settingsFor(device, cloud), clock);
      await work({ device, cloud, start, path: join(device.root, "a.mcap"), remount: card.remount });
    });

  for (const where of ["on the same mount", "on another mount"])
    onFileSystem(
      `a rewrite with size and time restored while the agent is stopped is never deleted unstored, ${where}`,
      async (scene) => {
        const { cloud, path, start, remount } = scene;
        const first = start();
        const versionId = await importWhole(cloud);
        await first.stop();
        const rewritten = rewrite(path);
        if (where === "on another mount") remount();
        cloud.settings = { ...cloud.settings, autoDeleteAfterImport: true };
        await using _second = start();
        await cloud.until(
          "it is another version",
          () => (cloud.at("a.mcap")?.versionId ?? versionId) !== versionId,
          20_000,
        );
        assert.ok(readFileSync(path).equals(rewritten));
        assert.deepEqual([cloud.deleted.size, cloud.permits.asked], [0, []]);
      },
    );

  onFileSystem(
    "what was imported is deleted once it was read by this process and found to be just that",
    async (scene) => {
      const { cloud, path, start } = scene;
      await using _agent = start();
      const versionId = await importWhole(cloud);
      cloud.settings = { ...cloud.settings, autoDeleteAfterImport: true };
      cloud.changed();
      await cloud.until("it is deleted", () => cloud.deleted.get(versionId) === "imported", 20_000);
      assert.equal(existsSync(path), false);
    },
  );

  onFileSystem(
    "a rewrite that does not show is never mixed into an upload, not even by the same process",
    async (scene) => {
      const { cloud, path, start } = scene;
      await using _agent = start();
      await cloud.until("it is reported", () => cloud.at("a.mcap") !== undefined, 20_000);
      const { promise, resolve } = Promise.withResolvers<void>();
      const numberOf = (url: string) => Number(url.split("/").at(-1));
      cloud.gate = ({ name, path: url }) => (name === "put" && numberOf(url) >= 6 ? promise : undefined);
      const requestId = cloud.requestImport("a.mcap");
      await cloud.until("five parts are durable", () => cloud.uploads.durable(requestId) === 5, 20_000);
      const rewritten = rewrite(path, 0.1);
      cloud.gate = () => undefined;
      resolve();
      await cloud.until("the request ends", () => cloud.failures.length === 1 || cloud.uploads.stored.size > 0, 20_000);
      assert.deepEqual(
        [...cloud.uploads.stored.values()].filter((bytes) => !bytes.equals(rewritten)),
        [],
      );
      assert.deepEqual(cloud.failures, [{ requestId, code: "FileChanged" }]);
    },
  );
}

async function importWhole(cloud: FakeCloud): Promise<string> {
  await cloud.until("it is reported", () => cloud.at("a.mcap") !== undefined, 20_000);
  const { versionId } = cloud.at("a.mcap")!;
  const requestId = cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId), 20_000);
  cloud.advance(requestId, "imported");
  await cloud.until("that is acknowledged", () => cloud.acknowledged.includes(requestId), 20_000);
  return versionId;
}

/** Rewrites some bytes in place; size and time stay the same. */
function rewrite(path: string, at = 0.5): Buffer {
  const { size, mtimeNs } = statSync(path, { bigint: true });
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(8, 0x5a), 0, 8, Math.floor(Number(size) * at));
  closeSync(file);
  const seconds = mtimeNs / 1_000_000_000n;
  execFileSync("touch", ["-d", `@${seconds}.${`${mtimeNs % 1_000_000_000n}`.padStart(9, "0")}`, path]);
  return readFileSync(path);
}

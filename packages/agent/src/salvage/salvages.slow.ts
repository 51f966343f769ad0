import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { EdgeRecordingItem } from "@downlink/protocol";
import { makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { SALVAGE_DIRECTORY } from "../files/made-path.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const impatient = { incompleteAfterMs: "150ms" };

/** Makes a recording that is cut off in the middle, on a device with an agent. */
async function startWithCutFile(path = "runs/cut.mcap", share = 0.7) {
  const cloud = await FakeCloud.start();
  const device = makeDevice();
  mkdirSync(join(device.root, dirname(path)), { recursive: true });
  const whole = await makeMcap({ chunkBytes: 20_000, metadata: [{ name: "downlink", metadata: { key: "k-1" } }] });
  writeFileSync(join(device.root, path), whole.slice(0, whole.byteLength * share));
  const settings = settingsFor(device, cloud, impatient);
  const daemon = startDaemon(settings);
  return {
    ...{ cloud, device, settings, daemon, path },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
      device[Symbol.dispose]();
    },
  };
}

type Scene = Awaited<ReturnType<typeof startWithCutFile>>;

async function ask({ cloud, path }: Scene): Promise<void> {
  await cloud.until("the file is known as incomplete", () => cloud.at(path)?.state === "incomplete");
  cloud.salvages = [{ requestId: "slv_1", versionId: cloud.at(path)!.versionId }];
  cloud.changed();
}

function salvageIn({ cloud }: Scene): EdgeRecordingItem | undefined {
  const found = [...cloud.files.values()].find((file) => file.path.startsWith(SALVAGE_DIRECTORY));
  return found?.state === "indexed" ? found : undefined;
}

test("what is readable of a cut file becomes a recording beside it, which says from which file it is and what was lost", async () => {
  await using scene = await startWithCutFile();
  const { cloud, device, path } = scene;
  await ask(scene);
  await cloud.until("the salvage is reported", () => salvageIn(scene) !== undefined);
  const [salvage, original] = [salvageIn(scene)!, cloud.at(path)!];
  assert.ok(original.state === "incomplete");
  assert.match(salvage.path, /^\.downlink-salvage\/[0-9a-f]{24}\/cut\.mcap$/);
  assert.deepEqual({ start: salvage.start, end: salvage.end }, original.salvage);
  assert.equal(salvage.key, undefined, "the key stays with the file itself");
  const record = salvage.metadata.at(-1)!;
  assert.equal(record.name, "downlink.salvage");
  const { versionId, size, modifiedAt } = original;
  const facts = { versionId, path, sizeBytes: `${size}`, modifiedAtNs: `${modifiedAt}`, reasonCode: "NoEnd" };
  assert.deepEqual({ ...record.metadata, ...facts }, record.metadata);
  assert.ok(Number(record.metadata.lostBytes) < size);
  const messages = await readIndexedMessages(readFileSync(join(device.root, salvage.path)));
  assert.equal(messages.length, salvage.messageCount);
});

test("an agent that is stopped and started makes no second one, and cleans up what a crash left of a first", async () => {
  await using scene = await startWithCutFile();
  const { cloud, device, settings, daemon } = scene;
  await ask(scene);
  await cloud.until("the salvage is reported", () => salvageIn(scene) !== undefined);
  const { path, versionId } = salvageIn(scene)!;
  await daemon.stop();
  const written = readFileSync(join(device.root, path));
  writeFileSync(join(device.root, `${path}.partial`), "half of it");
  await using again = startDaemon(settings);
  await again.until("it is connected", ({ connection }) => connection.state === "connected");
  await again.until("it has scanned", ({ storage }) => storage.lastScanAt !== null);
  assert.equal(salvageIn(scene)!.versionId, versionId);
  assert.deepEqual(readFileSync(join(device.root, path)), written);
  await again.until("the rest is gone", () => !existsSync(join(device.root, `${path}.partial`)));
  assert.equal(cloud.failures.length, 0);
});

test("a file of which nothing can be read, and one that is gone, are given up with the reason", async () => {
  await using scene = await startWithCutFile("short.mcap", 0.005);
  const { cloud } = scene;
  await ask(scene);
  await cloud.until("it is given up", () => cloud.failures.length === 1);
  cloud.salvages = [{ requestId: "slv_2", versionId: "never-heard-of-it" }];
  cloud.changed();
  await cloud.until("that one too", () => cloud.failures.length === 2);
  assert.deepEqual(
    cloud.failures.map(({ code }) => code),
    ["NothingReadable", "FileGone"],
  );
  assert.equal(salvageIn(scene), undefined);
});

test("a cut that is reported while the control plane is away is salvaged when it is back", async () => {
  await using scene = await startWithCutFile();
  const { cloud, device, path } = scene;
  await cloud.until("the file is known as incomplete", () => cloud.at(path)?.state === "incomplete");
  await cloud.goAway();
  truncateSync(join(device.root, path), 40_000);
  await cloud.listen();
  await cloud.until(
    "the shorter file is known",
    () => cloud.at(path)?.state === "incomplete" && cloud.at(path)?.size === 40_000,
  );
  await ask(scene);
  await cloud.until("the salvage is reported", () => salvageIn(scene) !== undefined);
  assert.equal(salvageIn(scene)!.metadata.at(-1)!.metadata.sizeBytes, "40000");
});

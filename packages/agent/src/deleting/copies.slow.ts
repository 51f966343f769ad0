import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

/** Makes a device with one recording that the cloud knows. */
async function startScene() {
  const stack = new AsyncDisposableStack();
  const device = stack.use(makeDevice());
  const cloud = stack.use(await FakeCloud.start());
  const sha256 = createHash("sha256")
    .update(await writeRecording(device, "a.mcap"))
    .digest("hex");
  const agent = stack.use(startDaemon(settingsFor(device, cloud)));
  await cloud.until("it is reported", () => cloud.at("a.mcap") !== undefined);
  const deleteImported = () => {
    cloud.settings = { ...cloud.settings, autoDeleteAfterImport: true };
    cloud.changed();
  };
  const path = join(device.root, "a.mcap");
  return { cloud, agent, sha256, path, deleteImported, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("a copy of a file that is in the cloud as another recording is recognized before it is sent; if its deletion is refused its state stays", async () => {
  await using scene = await startScene();
  const { cloud, agent, sha256, path } = scene;
  cloud.uploads.originals.set(sha256, "rec_9 (first.mcap)");
  await agent.until("a hash of it would prove something", () => Date.now() - statSync(path).ctimeMs > 2500);
  const requestId = cloud.requestImport("a.mcap");
  await cloud.until("its end is acknowledged", () => cloud.acknowledged.includes(requestId));
  assert.equal((await agent.status()).files.duplicate, 1);
  assert.deepEqual([cloud.uploads.received, cloud.permits.asked], [[], []]);
  cloud.permits.refuse = () => ({ code: "ImportNotComplete", text: "an older control plane" });
  scene.deleteImported();
  await cloud.until("its deletion is asked for", () => cloud.permits.asked.length === 1);
  await agent.until("it stays what it is", ({ files }) => files.duplicate === 1);
  assert.ok(existsSync(path));
});

test("a file that may be a copy and is none is sent, and its hash is its proof later", async () => {
  await using scene = await startScene();
  const { cloud, agent, sha256, path } = scene;
  cloud.uploads.originals.set("f".repeat(64), "rec_9");
  await agent.until("a hash of it would prove something", () => Date.now() - statSync(path).ctimeMs > 2500);
  const { versionId } = cloud.at("a.mcap")!;
  const requestId = cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
  cloud.advance(requestId, "imported");
  scene.deleteImported();
  await cloud.until("it is deleted", () => cloud.deleted.get(versionId) === "imported");
  assert.equal(cloud.permits.asked[0]!.sha256, sha256);
});

test("a copy of what is imported is deleted once the device is set so, with its own hash", async () => {
  await using scene = await startScene();
  const { cloud, sha256, path } = scene;
  const { versionId } = cloud.at("a.mcap")!;
  cloud.advance(cloud.requestImport("a.mcap"), "failed", { code: "DuplicateContent", text: "it is recording rec_9" });
  scene.deleteImported();
  await cloud.until("the deletion is reported", () => cloud.deleted.get(versionId) === "imported");
  assert.deepEqual(cloud.permits.asked, [{ versionId, sha256, reason: "imported" }]);
  assert.equal(existsSync(path), false);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeCloud } from "./testing/fake-cloud.ts";
import { writeRecording } from "./testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "./testing/run-daemon.ts";

const PATIENCE_MS = 90_000;

test("an agent that rests holds one connection, also after uploads, and its heartbeats go over it", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.longestWaitMs = 3000;
  const { connections, heartbeats } = cloud;
  const paths = ["a.mcap", "b.mcap", "c.mcap"];
  for (const [seed, path] of paths.entries()) await writeRecording(device, path, { seed });
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("they are reported", () => cloud.files.size === paths.length, PATIENCE_MS);
  const requestIds = paths.map((path) => cloud.requestImport(path));
  await cloud.until("they are stored", () => cloud.uploads.stored.size === paths.length, PATIENCE_MS);
  for (const requestId of requestIds) cloud.advance(requestId, "imported");
  await cloud.until("their ends are acknowledged", () => cloud.requests.size === 0, PATIENCE_MS);
  assert.ok(connections.begun > 1, "uploads have connections of their own");
  const sentBefore = heartbeats.length;
  await cloud.until("that is reported", () => heartbeats.length > sentBefore, PATIENCE_MS);
  await cloud.until("one connection is left", () => connections.open === 1, PATIENCE_MS);
  const [begun, sent] = [connections.begun, heartbeats.length];
  await cloud.until("it rested for a while", () => heartbeats.length > sent, PATIENCE_MS);
  assert.deepEqual(connections, { begun, open: 1 });
  assert.equal((await agent.status()).health, "healthy");
});

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { violations } from "../testing/check-schema.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { readOfflineStatus } from "./offline-status.ts";
import { askStatus, serveStatus } from "./socket.ts";
import { statusSchema } from "./status-schema.ts";

const nothingKnown = { stateGroup: "downlink", storageRoot: undefined, apiUrl: undefined };

test("what a running agent answers, and what is known without one, both keep the documented schema", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  const { stateDir, root: storageRoot } = device;
  const offline = () => readOfflineStatus({ stateDir, stateGroup: "downlink", storageRoot, apiUrl: cloud.url });
  assert.deepEqual(violations(statusSchema, offline()), []);
  await using agent = startDaemon(settingsFor(device, cloud));
  assert.deepEqual(violations(statusSchema, await agent.status()), []);
  const last = await agent.until("the file is reported", ({ files }) => files.reported === 1);
  assert.deepEqual(violations(statusSchema, last), []);
  await agent.stop();
  assert.deepEqual(violations(statusSchema, offline()), []);
  assert.deepEqual([offline().files, offline().device], [last.files, last.device]);
});

test("the schema refuses what it does not describe", () => {
  const status = readOfflineStatus({ stateDir: "/nonexistent", ...nothingKnown });
  assert.deepEqual(violations(statusSchema, { ...status, version: 2 }), ["$.version is not 1"]);
  assert.deepEqual(violations(statusSchema, { ...status, extra: 1 }), ["$.extra is not known"]);
  assert.deepEqual(violations(statusSchema, { ...status, files: { flying: 1, seen: -1 } }), [
    "$.files key flying is none of the allowed",
    "$.files.seen is below the minimum",
  ]);
});

test("a state directory too long for a socket's path is served all the same", async (t) => {
  const stateDir = join(makeDirectory(t), "x".repeat(120));
  mkdirSync(stateDir);
  const status = readOfflineStatus({ stateDir, ...nothingKnown });
  await using _server = await serveStatus(stateDir, async () => status);
  assert.deepEqual(await askStatus(stateDir), status);
});

test("a socket that a killed agent left counts as no agent, and does not hinder the next one", async (t) => {
  const stateDir = makeDirectory(t);
  assert.equal(await askStatus(stateDir), undefined);
  writeFileSync(join(stateDir, "agent.sock"), "");
  assert.equal(await askStatus(stateDir), undefined);
  const status = readOfflineStatus({ stateDir, ...nothingKnown });
  await using _server = await serveStatus(stateDir, async () => status);
  assert.deepEqual(await askStatus(stateDir), status);
});

test("an agent that ends while it answers counts as none", async () => {
  using device = makeDevice();
  mkdirSync(device.stateDir);
  const server = createServer((socket) => socket.end('{"version": 1, "heal'));
  await new Promise<void>((resolve) => void server.listen(join(device.stateDir, "agent.sock"), resolve));
  assert.equal(await askStatus(device.stateDir), undefined);
  await new Promise((resolve) => server.close(resolve));
});

test("an agent that does not answer is named as such", async (t) => {
  const stateDir = makeDirectory(t);
  await using _server = await serveStatus(stateDir, () => new Promise(() => {}));
  await assert.rejects(askStatus(stateDir, 50), /runs but does not answer/);
});

function makeDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "downlink-status-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

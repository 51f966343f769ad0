import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startCloud } from "@downlink/cloud/testing";
import { api, MAX_LIMIT } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startEdgeAgent } from "../processes/edge-agent.ts";

const FILES = 1500;
const PER_DIRECTORY = 100;

test("1,500 files that appear at once, in directories that appear with them, become one recording each", async (t) => {
  const storageRoot = await mkdtemp(join(tmpdir(), "downlink-many-"));
  t.after(() => rm(storageRoot, { recursive: true, force: true }));
  const cloud = await startCloud(t);
  const device = await cloud.admin.call(api.devices.create, { name: "rover" });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  const stateDir = `${storageRoot}-state`;
  t.after(() => rm(stateDir, { recursive: true, force: true }));
  await using agent = startEdgeAgent({ url: cloud.url, token: token!, storageRoot, stateDir });
  await agent.line(/"connected"/);

  const written: string[] = [];
  const bytes = await makeMcap({ durationSeconds: 0.1 });
  for (let number = 0; number < FILES; number += 1) {
    const directory = `${Math.floor(number / PER_DIRECTORY)}`;
    if (number % PER_DIRECTORY === 0) await mkdir(join(storageRoot, directory));
    const path = `${directory}/${number}.mcap`;
    await writeFile(join(storageRoot, path), bytes);
    written.push(path);
  }
  const list = () => cloud.admin.call(api.recordings.list, { limit: MAX_LIMIT });
  const found = await eventually(list, (all) => all.length >= FILES);
  assert.deepEqual(found.map(({ path }) => path).sort(), written.sort());
});

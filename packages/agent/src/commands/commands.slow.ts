import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { runAgent, startAgent } from "../testing/start-agent.ts";
import type { ShownSetting } from "./config.ts";

const secret = "dl_dt_0123456789abcdefghijABCDEFGHIJ";

test("config shows every value with where it comes from, the control plane's before the default, and no secret", async (t) => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.settings = { ...cloud.settings, uploadRate: "5MB/s", uploadConcurrency: 7 };
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  await agent.stop();

  const directory = mkdtempSync(join(tmpdir(), "downlink-config-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const configFile = join(directory, "agent.env");
  writeFileSync(configFile, `DOWNLINK_DEVICE_TOKEN=${secret}\nDOWNLINK_UPLOAD_CONCURRENCY=3\n`);
  const args = ["--config", configFile, "--state-dir", device.stateDir, "config"];
  await using asJson = startAgent([...args, "--json"], { DOWNLINK_LOG_LEVEL: "debug" });
  const { stdout } = await asJson.exited;
  const values = new Map(
    (JSON.parse(stdout) as ShownSetting[]).map(({ name, value, from }) => [name.slice(9), { value, from }]),
  );
  assert.deepEqual(values.get("STATE_DIR"), { value: device.stateDir, from: "command line" });
  assert.deepEqual(values.get("LOG_LEVEL"), { value: "debug", from: "environment" });
  assert.deepEqual(values.get("UPLOAD_CONCURRENCY"), { value: "3", from: "file" });
  assert.deepEqual(values.get("UPLOAD_RATE"), { value: "5MB/s", from: "control plane" });
  assert.deepEqual(values.get("SETTLE_TIME"), { value: "2s", from: "default" });
  assert.deepEqual(values.get("STORAGE_ROOT"), { value: null, from: "not set" });
  assert.deepEqual(values.get("DEVICE_TOKEN"), { value: "dl_dt_…GHIJ", from: "file" });

  const table = await runAgent(...args);
  assert.match(table.stdout, /^DOWNLINK_UPLOAD_RATE +5MB\/s +control plane +at once$/m);
  assert.ok(!`${stdout}${table.stdout}`.includes(secret));
});

test("explain takes a path as anybody may name it, and says the same", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  const flags = ["--url", cloud.url, "--storage-root", device.root, "--state-dir", device.stateDir];
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("it is reported", ({ files }) => files.reported === 1);
  const [absolute, relative] = await Promise.all(
    [join(device.root, "a.mcap"), "a.mcap"].map((file) => runAgent(...flags, "explain", file, "--json")),
  );
  const explained = JSON.parse(absolute!.stdout) as Record<string, unknown>;
  assert.deepEqual([explained.path, explained.state, absolute!.code], ["a.mcap", "reported", 0]);
  assert.deepEqual(JSON.parse(relative!.stdout), explained);
  const text = await runAgent(...flags, "explain", join(device.root, "..", "elsewhere.mcap"));
  assert.match(
    text.stdout,
    /^File +\/.*elsewhere\.mcap\nState +outside the root\nWhy +It is not below .*\nNext +Nothing\.\nTo do /,
  );
  const unset = await runAgent("--state-dir", device.stateDir, "explain", "a.mcap");
  assert.deepEqual([unset.code, /DOWNLINK_STORAGE_ROOT is not set/.test(unset.stderr)], [2, true]);
});

test("doctor's exit code is 1 with a failure, and 3 with nothing but warnings", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const flags = ["--url", cloud.url, "--storage-root", device.root, "--state-dir", device.stateDir];
  const failed = await runAgent(...flags, "--token", "dl_dt_wrong", "doctor");
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^fail +Token .*\n +→ .*enroll/m);
  const warned = await runAgent(...flags, "--token", cloud.token, "doctor", "--json");
  assert.equal(warned.code, 3, warned.stdout);
});

test("a reader that goes away early causes no error", () => {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const pipe = `'${process.execPath}' '${main}' --config /dev/null config | head -c 0`;
  assert.equal(spawnSync("sh", ["-c", pipe], { encoding: "utf8" }).stderr, "");
});

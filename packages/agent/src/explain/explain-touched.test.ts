import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { runAgent } from "../testing/start-agent.ts";

test("explain says that a touched file is read again; it says nothing about a new mode", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  // There is only the first scan.
  const flags = { usesNotify: "false", scanIntervalMs: "10min" };
  await using agent = startDaemon(settingsFor(device, cloud, flags));
  await agent.until("it is reported", ({ files }) => files.reported === 1);
  const path = join(device.root, "a.mcap");
  const args = ["--url", cloud.url, "--storage-root", device.root, "--state-dir", device.stateDir, "explain", path];
  const explain = async () => (await runAgent(...args)).stdout;
  chmodSync(path, 0o600);
  assert.match(await explain(), /^Why +The control plane knows it, and nobody has asked for its import\.$/m);
  utimesSync(path, 1, 1);
  const touched = await explain();
  assert.match(touched, /^State +reported$/m);
  assert.match(touched, /^Why +It was written or touched since the agent looked at it\.$/m);
  assert.match(touched, /^Next +It is read again, slowly: with the same content it is the same recording/m);
  execFileSync("cp", ["-a", path, `${path}.copy`]);
  renameSync(`${path}.copy`, path);
  assert.match(
    await explain(),
    /^Why +It was copied, or its file system mounted anew, since the agent looked at it\.$/m,
  );
});

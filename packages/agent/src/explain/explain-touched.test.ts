import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { nobody, runAgent, startAgent, whyNotAsNobody } from "../testing/start-agent.ts";

slowTest("explain says that a file is read again that was touched, or has another mode", async () => {
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
  assert.match(
    await explain(),
    /^Why +Its mode, owner or links changed, or its bytes did and its time was set back, since/m,
  );
  utimesSync(path, 1, 1);
  const touched = await explain();
  assert.match(touched, /^State +reported$/m);
  assert.match(touched, /^Why +It was written or touched since the agent looked at it\.$/m);
  assert.match(touched, /^Next +It is read again, slowly\. With the same content it stays the same recording/m);
  execFileSync("cp", ["-a", path, `${path}.copy`]);
  renameSync(`${path}.copy`, path);
  assert.match(
    await explain(),
    /^Why +It was copied, or its file system mounted again, since the agent looked at it\.$/m,
  );
  renameSync(path, join(device.root, "b.mcap"));
  assert.match(await explain(), /^Why +It is not at this path any more, and no scan has noticed that yet\.$/m);
});

slowTest(
  "the commands that explain names are about the file, quoted for a shell; a file that is not there is an error",
  async () => {
    using device = makeDevice();
    await using cloud = await FakeCloud.start();
    await writeRecording(device, "it's one.mcap");
    await using agent = startDaemon(settingsFor(device, cloud, { usesNotify: "false", scanIntervalMs: "10min" }));
    await agent.until("it is reported", ({ files }) => files.reported === 1);
    const args = ["--url", cloud.url, "--storage-root", device.root, "--state-dir", device.stateDir, "explain"];
    const reported = await runAgent(...args, "it's one.mcap");
    assert.match(
      reported.stdout,
      /^To do +Ask for its import with `.* import 'it'\\''s one\.mcap'`, in the control plane/m,
    );
    await writeRecording(device, "new.mcap");
    const unseen = await runAgent(...args, "new.mcap");
    assert.match(unseen.stdout, /^Why +It is there, and no scan has seen it yet\.\nNext .*\n$/m);
    const missing = await runAgent(...args, "none.mcap");
    assert.match(missing.stdout, /^State +not there\nWhy +There is no file by this path/m);
    assert.deepEqual([reported.code, unseen.code, missing.code], [0, 0, 1]);
  },
);

test("explain names the folder that a user may not enter", { skip: whyNotAsNobody() }, async () => {
  using device = makeDevice();
  const folder = join(device.root, "closed");
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(dirname(device.root), 0o755);
  const places = ["--storage-root", device.root, "--state-dir", join(device.root, "none")];
  const { stdout } = await startAgent([...places, "explain", join(folder, "a.mcap")], {}, { user: nobody }).exited;
  assert.match(
    stdout,
    /^State +in an unreadable folder\nWhy +You may not look into .*closed, and the agent knows no file/m,
  );
});

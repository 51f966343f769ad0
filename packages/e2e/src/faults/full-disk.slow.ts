import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startCloud } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { runAgentCommand, startEdgeAgent } from "../processes/edge-agent.ts";

const DEGRADED = 3;

test("with a full disk under its state the agent keeps running, reports the problem, and catches up once there is room", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "downlink-full-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [storageRoot, stateDir] = [join(folder, "root"), join(folder, "state")];
  await mkdir(storageRoot);
  await mkdir(stateDir);
  using disk = mountSmall(stateDir);
  if (!disk) return t.skip("only root can mount a file system of a limited size");
  const cloud = await startCloud(t);
  const device = await cloud.admin.call(api.devices.create, { name: "rover" });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  const options = { url: cloud.url, token: token!, storageRoot, stateDir };
  await using agent = startEdgeAgent(options);
  await agent.line(/"connected"/);

  const filler = join(stateDir, "filler");
  const { bavail, bsize } = await statfs(stateDir);
  await writeFile(filler, Buffer.alloc(bavail * bsize));
  const bytes = await makeMcap({ durationSeconds: 0.1 });
  for (let number = 0; number < 40; number += 1) await writeFile(join(storageRoot, `${number}.mcap`), bytes);
  const status = () => runAgentCommand(options, "status");
  const { output } = await eventually(status, ({ code }) => code === DEGRADED);
  assert.match(output, /state/i);
  await rm(filler);
  await eventually(
    () => cloud.admin.call(api.recordings.list, {}),
    (all) => all.length === 40,
  );
  await eventually(status, ({ code }) => code === 0);
  assert.equal(await agent.end("SIGTERM"), 0);
});

function mountSmall(directory: string): Disposable | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return { [Symbol.dispose]: () => void execFileSync("umount", ["-l", directory]) };
}

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, untilStatus } from "../testing/run-daemon.ts";
import { type AgentProcess, runAgent, type StartOptions, startAgent } from "../testing/start-agent.ts";

const GROUP = 61_234;
const member: StartOptions = { user: { uid: 65_534, gid: 65_534, groups: [GROUP] } };
const stranger: StartOptions = { user: { uid: 65_534, gid: 65_534 } };
const commands = [["status"], ["ls"], ["explain", "a.mcap"]];

/** Writes the settings into a file that only root may read, as `enroll` does. */
function configure(device: Device, cloud: FakeCloud): string {
  chmodSync(dirname(device.root), 0o755);
  const configFile = join(dirname(device.root), "agent.env");
  const settings = {
    ...{ DEVICE_TOKEN: cloud.token, API_URL: cloud.url, STORAGE_ROOT: device.root, STATE_DIR: device.stateDir },
    ...{ STATE_GROUP: GROUP, SETTLE_TIME: "50ms", WATCH_SCAN_INTERVAL: "200ms" },
  };
  const lines = Object.entries(settings).map(([name, value]) => `DOWNLINK_${name}=${value}\n`);
  writeFileSync(configFile, lines.join(""), { mode: 0o600 });
  return configFile;
}

async function start(configFile: string, device: Device, options?: StartOptions): Promise<AgentProcess> {
  const agent = startAgent(["--config", configFile, "run"], {}, options);
  await agent.started;
  await untilStatus(device.stateDir, "the file is reported", ({ files }) => files.reported === 1);
  return agent;
}

test("a member of the group reads status, ls and explain while the agent runs, after it stopped and after it was killed; no secret", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root, to become somebody else");
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  const configFile = configure(device, cloud);
  writeFileSync(join(dirname(device.root), "own.txt"), "");
  const ask = async (who: StartOptions) => {
    const place = ["--config", configFile, "--state-dir", device.stateDir];
    const environment = { DOWNLINK_STATE_GROUP: String(GROUP) };
    return await Promise.all(commands.map((command) => startAgent([...place, ...command], environment, who).exited));
  };
  const assertExplained = async (code: number, status: RegExp) => {
    const [shown, listed, explained] = await ask(member);
    assert.deepEqual([shown!.code, listed!.code, explained!.code], [code, 0, 0], shown!.stderr + listed!.stderr);
    assert.match(shown!.stdout, status);
    assert.match(listed!.stdout, /^a\.mcap +reported/m);
    assert.match(explained!.stdout, /^State +reported/m);
  };
  await using first = await start(configFile, device);
  await assertExplained(0, /healthy.*rover-1.*1 reported/s);
  for (const { code, stdout, stderr } of await ask(stranger)) {
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^agent: you may not read the agent's state in .*Do this as root, or become a member/);
    assert.ok(stderr.includes(`\`usermod -aG ${GROUP} nobody\``), stderr);
  }
  first.kill("SIGTERM");
  await first.exited;
  await assertExplained(4, /not running.*rover-1.*1 reported/s);
  await using second = await start(configFile, device);
  second.kill("SIGKILL");
  await second.exited;
  await assertExplained(4, /not running/);
  for (const name of readdirSync(device.stateDir)) {
    const mode = statSync(join(device.stateDir, name)).mode & 0o777;
    assert.equal(mode & 0o007, 0, `${name} is nobody else's`);
    if (/lock|token|reserve/.test(name)) assert.equal(mode, 0o600, name);
  }
  assert.ok(!readFileSync(join(device.stateDir, "agent.db")).includes(cloud.token));
});

test("an agent of an ordinary user whose own group it is shares its state too, whatever the umask", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root, to become somebody else");
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const configFile = configure(device, cloud);
  for (const path of [configFile, device.root]) chmodSync(path, 0o777);
  chmodSync(dirname(device.root), 0o777);
  await writeRecording(device, "a.mcap");
  const umask = process.umask(0o077);
  t.after(() => process.umask(umask));
  await using _agent = await start(configFile, device, { user: { uid: 61_000, gid: GROUP } });
  process.umask(umask);
  const place = ["--config", configFile, "--state-dir", device.stateDir];
  const { code, stdout } = await startAgent([...place, "ls"], {}, member).exited;
  assert.deepEqual([code, /^a\.mcap +reported/m.test(stdout)], [0, true]);
  assert.equal((await startAgent([...place, "status"], {}, member).exited).code, 0);
});

test("a user who may not read the settings and knows of no state is asked to say where it is; without a state nothing is said", async (t) => {
  using device = makeDevice();
  const { code, stdout } = await runAgent("--config", "/dev/null", "--state-dir", device.stateDir, "ls");
  assert.deepEqual([code, / holds no agent's state, /.test(stdout)], [0, true]);
  if (process.getuid?.() !== 0) return t.skip("needs root, to become somebody else");
  const configFile = join(dirname(device.root), "agent.env");
  chmodSync(dirname(device.root), 0o755);
  writeFileSync(configFile, "", { mode: 0o600 });
  const lost = await startAgent(["--config", configFile, "ls"], { DOWNLINK_STATE_DIR: "" }, stranger).exited;
  assert.deepEqual([lost.code, /--state-dir DIR/.test(lost.stderr)], [2, true], lost.stderr);
});

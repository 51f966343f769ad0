import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { type Device, flagsFor, makeDevice } from "../testing/run-daemon.ts";
import { runAgent, startAgent, whyNotAsNobody } from "../testing/start-agent.ts";
import { runServiceLoop } from "./service-loop.ts";
import { makeUnit } from "./unit.ts";

const has = (program: string) => spawnSync(program, ["--version"]).status === 0;
const hasNotify = has("systemd-notify") && has("python3");

/** Prints each datagram as one line of JSON; Node has no sockets of this kind. */
const receiver = `
import json, os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    data, fds, _, _ = socket.recv_fds(s, 4096, 8)
    for fd in fds: os.close(fd)
    print(json.dumps(data.decode()), flush=True)
`;

/** Receives what the agent sends to the service manager, line by line. */
async function startReceiver(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), "downlink-notify-"));
  const path = join(directory, "notify.sock");
  const child = spawn("python3", ["-c", receiver, path], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  t.after(() => {
    child.kill();
    rmSync(directory, { recursive: true });
  });
  assert.equal((await lines.next()).value, "bound");
  return {
    path,
    /** Waits for the next message that matches. */
    async until(pattern: RegExp): Promise<string> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the receiver ended before ${pattern}`);
        if (pattern.test(value)) return JSON.parse(value) as string;
      }
    },
  };
}

test("systemd is notified that the agent is ready, of its status, that it lives, and that it stops", async (t) => {
  if (!hasNotify) return t.skip("systemd-notify and python3 are not both here");
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const manager = await startReceiver(t);
  await using agent = startAgent([...flagsFor(device, cloud), "run"], {
    NOTIFY_SOCKET: manager.path,
    WATCHDOG_USEC: "300000",
  });
  assert.match(await manager.until(/READY=1/), /STATUS=\w+, 0 files/);
  await manager.until(/WATCHDOG=1/);
  assert.match(await manager.until(/connected/), /^WATCHDOG=1\nSTATUS=connected, 0 files, 0 uploads/);
  agent.kill("SIGTERM");
  await manager.until(/STOPPING=1/);
  assert.equal((await agent.exited).code, 0);
});

test("an agent that starts again with other settings is ready again, and never says that it stops", async (t) => {
  if (!hasNotify) return t.skip("systemd-notify and python3 are not both here");
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const manager = await startReceiver(t);
  const configFile = join(device.root, "..", "agent.env");
  writeFileSync(configFile, "");
  const args = [...flagsFor(device, cloud), "--config", configFile, "run"];
  await using _agent = startAgent(args, { NOTIFY_SOCKET: manager.path });
  await manager.until(/READY=1/);
  writeFileSync(configFile, "DOWNLINK_SETTLE_TIME=3s\n");
  assert.match(await manager.until(/READY=1|STOPPING=1/), /READY=1/);
});

test("the watchdog goes hungry while the loops stand still", async (t) => {
  if (!hasNotify) return t.skip("systemd-notify and python3 are not both here");
  const manager = await startReceiver(t);
  process.env.NOTIFY_SOCKET = manager.path;
  process.env.WATCHDOG_USEC = "60000";
  t.after(() => {
    delete process.env.NOTIFY_SOCKET;
    delete process.env.WATCHDOG_USEC;
  });
  let looks = 0;
  const { promise: starved, resolve } = Promise.withResolvers<void>();
  const isProgressing = () => {
    if (++looks === 3) resolve();
    return false;
  };
  const stop = new AbortController();
  const log = { error: () => undefined, warn: () => undefined } as never;
  const loop = runServiceLoop({ log, isProgressing, describe: () => "stuck", isEnding: () => true }, stop.signal);
  await starved;
  stop.abort();
  await loop;
  assert.match(await manager.until(/READY=1/), /stuck/);
  assert.equal(await manager.until(/WATCHDOG|STOPPING/), "STOPPING=1");
});

test("systemd takes the unit without complaint, whatever the paths are", async (t) => {
  if (!has("systemd-analyze")) return t.skip("systemd-analyze is not here");
  const directory = mkdtempSync(join(tmpdir(), "downlink-unit-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const paths = { stateDir: "/var/lib/downlink-agent", storageRoot: '/mnt/100% "big" $card' };
  const unit = makeUnit({
    command: [process.execPath, "/opt/down link/main.js", "run"],
    user: "nobody",
    group: "downlink",
    ...paths,
  });
  const file = join(directory, "downlink-agent.service");
  writeFileSync(file, unit);
  assert.equal(execFileSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8", stdio: "pipe" }), "");
});

test("install-service prints the unit of these settings, and refuses what it cannot write or what is no user", async (t) => {
  using device = makeDevice();
  const directory = mkdtempSync(join(tmpdir(), "downlink-unit-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const flags = ["--storage-root", device.root, "--state-dir", device.stateDir, "install-service"];
  const printed = await runAgent(...flags, "--print");
  assert.equal(printed.code, 0);
  const promises = ["Type=notify", "NotifyAccess=all", "WatchdogSec=60", "Restart=always", "StartLimitIntervalSec=0"];
  for (const line of [...promises, "IOSchedulingClass=idle", "MemoryMax=200M", "User=downlink-agent", "Group=downlink"])
    assert.ok(printed.stdout.split("\n").includes(line), line);
  assert.doesNotMatch(printed.stdout, /network|MemoryDenyWriteExecute/);
  assert.ok(printed.stdout.includes(`ReadWritePaths=-${device.root}\n`));
  const injected = await runAgent(...flags, "--print", "--user", "x\nExecStart=/bin/false");
  assert.deepEqual([injected.code, injected.stdout], [2, ""]);
  const refused = await runAgent(...flags, "--unit-file", "/nonexistent/x.service");
  assert.deepEqual([refused.code, /cannot write \/nonexistent/.test(refused.stderr)], [2, true]);
});

/** Makes programs that note how they are called and do nothing else; without `hasLists`, `setfacl` refuses the file system. */
function makePrograms(t: TestContext, { hasLists = true } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "downlink-programs-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const calls = join(directory, "calls");
  writeFileSync(calls, "");
  for (const name of ["groupadd", "useradd", "chown", "setfacl", "systemctl"]) {
    const refuses = name === "setfacl" && !hasLists;
    const end = refuses ? "echo 'setfacl: Operation not supported' >&2; exit 1" : "exit 0";
    writeFileSync(join(directory, name), `#!/bin/sh\necho ${name} "$@" >> ${calls}\n${end}\n`, { mode: 0o755 });
  }
  return { path: `${directory}:${process.env.PATH}`, calls: () => readFileSync(calls, "utf8").trim().split("\n") };
}

async function install(device: Device, path: string, user: string) {
  const unitFile = join(dirname(device.root), "robot.service");
  const configFile = join(dirname(device.root), "agent.env");
  writeFileSync(configFile, `DOWNLINK_STORAGE_ROOT=${device.root}\nDOWNLINK_STATE_DIR=${device.stateDir}\n`);
  const args = ["--config", configFile, "install-service", "--unit-file", unitFile, "--user", user];
  const { code, stdout, stderr } = await startAgent(args, { PATH: path }).exited;
  assert.deepEqual([code, stderr], [0, ""]);
  return { stdout, unit: readFileSync(unitFile, "utf8"), configFile };
}

test("install-service makes user and group, gives them settings, state and the recordings' folder, and reloads", async (t) => {
  const why = whyNotAsNobody();
  if (why !== undefined) return t.skip(why);
  using device = makeDevice();
  chmodSync(dirname(device.root), 0o755);
  const { path, calls } = makePrograms(t);
  const { stdout, unit, configFile } = await install(device, path, "nobody");
  assert.deepEqual(calls(), [
    "groupadd --system --force downlink",
    `chown nobody ${configFile}`,
    `chown -R nobody:downlink ${device.stateDir}`,
    "systemctl daemon-reload",
    `setfacl -R -m u:nobody:rwX ${device.root}`,
    `setfacl -dR -m u:nobody:rwX ${device.root}`,
  ]);
  assert.match(stdout, /^The unit is in .*robot\.service\.\nNext:\n\n {2}systemctl enable --now robot\n$/);
  const [, program] = /^ExecStart=(\S+)/m.exec(unit) ?? [];
  assert.doesNotMatch(unit, /node_modules\/\.pnpm/, "no path of a version");
  assert.match(execFileSync(program!, ["--version"], { encoding: "utf8" }), /^v2\d/);
  const { stdout: fresh } = await install(device, path, "robot");
  assert.ok(calls().includes("useradd --system --no-create-home --shell /usr/sbin/nologin --gid downlink robot"));
  assert.match(fresh, /once the user robot is there/);
});

test("where the folder cannot be given, install-service says how it is", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root");
  using device = makeDevice();
  const { path } = makePrograms(t, { hasLists: false });
  const { stdout } = await install(device, path, "nobody");
  assert.ok(
    stdout.includes(
      `  setfacl -R -m u:nobody:rwX ${device.root}  # the user nobody needs write access to ${device.root}, and setfacl: Operation not`,
    ),
  );
  const { path: able } = makePrograms(t);
  const closed = await install(device, able, "nobody");
  const above = dirname(device.root);
  assert.ok(
    closed.stdout.includes(`  setfacl -m u:nobody:x ${above}  # the user nobody may not enter ${above}`),
    closed.stdout,
  );
  mkdirSync(device.stateDir, { recursive: true });
  rmSync(device.root, { recursive: true });
  assert.match(
    (await install(device, able, "nobody")).stdout,
    /# once .*root is there: the user nobody needs write access to it/,
  );
});

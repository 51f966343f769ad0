import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, untilStatus } from "../testing/run-daemon.ts";
import { startAgent } from "../testing/start-agent.ts";

const QUICK_SETTINGS = "DOWNLINK_SETTLE_TIME=50ms\nDOWNLINK_WATCH_SCAN_INTERVAL=200ms\n";

test("settings that take effect at once do so, in a file edited in place or replaced, and nothing is interrupted", async () => {
  await using bed = await openBed("DOWNLINK_UPLOAD_RATE=off\n");
  const { device, cloud } = bed;
  await writeRecording(device, "a.mcap");
  await using agent = bed.start();
  await cloud.until("it is reported", () => cloud.at("a.mcap") !== undefined);
  cloud.requestImport("a.mcap");
  await bed.until("uploads are paused", ({ throttle }) => throttle.text === "the upload rate is off");
  bed.edit("DOWNLINK_UPLOAD_RATE=3MB/s\nDOWNLINK_LOG_LEVEL=debug\n");
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
  await writeRecording(device, "b.mcap");
  await cloud.until("the other is reported", () => cloud.at("b.mcap") !== undefined);
  assert.deepEqual([cloud.at("b.mcap")?.state, wantsImportOf(cloud, "b.mcap")], ["indexed", undefined]);
  bed.replace("DOWNLINK_AUTO_IMPORT=b*\nDOWNLINK_MIN_FREE_BYTES=100%\n");
  await cloud.until("its import is wanted", () => wantsImportOf(cloud, "b.mcap") === true);
  await bed.until("the quota asks for room", ({ problems }) => problems.some(({ code }) => code === "QuotaExceeded"));
  bed.replace("");
  const status = await bed.until("it asks for none", ({ problems }) =>
    problems.every(({ code }) => code !== "QuotaExceeded"),
  );
  assert.deepEqual([status.throttle.bytesPerSecond, hellosOf(cloud)], [null, 1]);
  agent.kill("SIGTERM");
  const { stdout, code } = await agent.exited;
  assert.equal(code, 0);
  assert.match(
    stdout,
    /"settings":\["DOWNLINK_UPLOAD_RATE","DOWNLINK_LOG_LEVEL"\],"msg":"changed settings are applied"/,
  );
  assert.match(stdout, /"level":20,.*"reported"/);
});

test("for other settings the agent starts again in its process, and takes its lease over at once", async () => {
  await using bed = await openBed("DOWNLINK_UPLOAD_RATE=3MB/s\n");
  const { device, cloud } = bed;
  for (const name of ["left.mcap", "stays.mcap"]) await writeRecording(device, name);
  await using agent = bed.start();
  await cloud.until("both are reported", () => cloud.files.size === 2);
  bed.replace("DOWNLINK_UPLOAD_RATE=3MB/s\nDOWNLINK_WATCH_EXCLUDE=left*\n");
  await cloud.until("one is left out", () => cloud.at("left.mcap") === undefined);
  const status = await bed.until("it is well", ({ health }) => health === "healthy");
  assert.deepEqual([status.agent.pid, status.throttle.bytesPerSecond], [agent.pid, 3_000_000]);
  assert.deepEqual([cloud.at("stays.mcap")?.state, hellosOf(cloud)], ["indexed", 2]);
});

test("a setting that needs a restart is named, changes nothing before it, and is forgotten when it is taken back", async () => {
  await using bed = await openBed("");
  const { device, cloud } = bed;
  await using agent = bed.start();
  await bed.until("it is well", ({ health }) => health === "healthy");
  const secret = "dl_dt_another0123456789";
  bed.edit(`DOWNLINK_DEVICE_NAME=rover-2\nDOWNLINK_DEVICE_TOKEN=${secret}\nDOWNLINK_WATCH_EXCLUDE=x*\n`);
  const named = await bed.until(
    "it starts over and still says so",
    ({ problems }) => hellosOf(cloud) === 2 && problems.some(({ code }) => code === "RestartNeeded"),
  );
  assert.equal(named.problems[0]?.detail, "DOWNLINK_DEVICE_NAME");
  assert.match(named.problems[0].fix, /systemctl restart/);
  bed.edit("");
  await bed.until("it is forgotten", ({ problems }) => problems.length === 0);
  await writeRecording(device, "a.mcap");
  await cloud.until("it works on", () => cloud.at("a.mcap") !== undefined);
  agent.kill("SIGTERM");
  const { stdout } = await agent.exited;
  assert.match(stdout, /DOWNLINK_DEVICE_NAME/);
  assert.match(
    stdout,
    /"setting":"DOWNLINK_DEVICE_TOKEN","msg":"a change in the file has no effect: the command line takes/,
  );
  assert.ok(!stdout.includes("another0123"), "no log line may hold a secret");
});

test("a file that is half written, invalid, gone, a directory or a dead link keeps the old settings, and says what to do", async () => {
  await using bed = await openBed("DOWNLINK_UPLOAD_RATE=3MB/s\n");
  const { cloud, path } = bed;
  await using agent = bed.start();
  await bed.until("it is well", ({ health }) => health === "healthy");
  const troubles: readonly [trouble: () => void, detail: RegExp][] = [
    [() => bed.edit("DOWNLINK_UPLOAD_RA"), /agent\.env:\d+: expected KEY=value/],
    [() => bed.edit("DOWNLINK_UPLOAD_RATE=fast\n"), /DOWNLINK_UPLOAD_RATE in .*agent\.env: fast is no upload rate/],
    [() => bed.edit("DOWNLINK_UPLOAD_RATES=1MB/s\n"), /unknown setting DOWNLINK_UPLOAD_RATES/],
    [() => bed.edit("DOWNLINK_CA_FILE=/nonexistent/ca.pem\n"), /DOWNLINK_CA_FILE: cannot read/],
    [() => bed.edit("DOWNLINK_SITE_TOKEN=dl_st_0123456789abcdef\n"), /are both set/],
    [() => rmSync(path), /cannot read .*agent\.env: it does not exist/],
    [() => mkdirSync(path), /cannot read .*agent\.env: it is a directory/],
    [() => rmdirSync(path), /cannot read .*agent\.env: it does not exist/],
    [() => symlinkSync("nowhere", path), /cannot read .*agent\.env: it does not exist/],
  ];
  for (const [makeTrouble, detail] of troubles) {
    makeTrouble();
    const { throttle, problems } = await bed.until(
      `${detail}`,
      ({ problems: [problem] }) => problem?.code === "SettingsInvalid" && detail.test(problem.detail),
    );
    assert.deepEqual([throttle.bytesPerSecond, /applies it by itself/.test(problems[0]!.fix)], [3_000_000, true]);
  }
  bed.replace("DOWNLINK_UPLOAD_RATE=fast\nDOWNLINK_WHAT=1\nhalf\n");
  await using looking = startAgent(["--config", path, "--state-dir", bed.device.stateDir, "status"]);
  const seen = await looking.exited;
  assert.equal(seen.code, 3, "a person still sees how the agent fares");
  assert.match(seen.stderr, /:5: expected KEY=value.*\n.*unknown setting DOWNLINK_WHAT.*\n.*fast is no upload rate/);
  assert.match(seen.stdout, /SettingsInvalid/);
  bed.replace("DOWNLINK_UPLOAD_RATE=5MB/s\n");
  const { agent: described } = await bed.until(
    "it is applied",
    ({ throttle, problems }) => throttle.bytesPerSecond === 5_000_000 && problems.length === 0,
  );
  assert.deepEqual([described.pid, hellosOf(cloud)], [agent.pid, 1]);
});

test("a file that is named in the environment too is followed; variables of the environment itself stay", async () => {
  await using bed = await openBed("DOWNLINK_UPLOAD_RATE=3MB/s\nDOWNLINK_UPLOAD_CONCURRENCY=3\n");
  const environment = { DOWNLINK_UPLOAD_RATE: "3MB/s", DOWNLINK_UPLOAD_CONCURRENCY: "4" };
  await using agent = bed.start(environment);
  await bed.until(
    "it is well",
    ({ health, throttle }) => health === "healthy" && throttle.bytesPerSecond === 3_000_000,
  );
  bed.replace("DOWNLINK_UPLOAD_RATE=5MB/s\nDOWNLINK_UPLOAD_CONCURRENCY=5\n");
  await bed.until("it is applied", ({ throttle }) => throttle.bytesPerSecond === 5_000_000);
  agent.kill("SIGTERM");
  const { stdout } = await agent.exited;
  assert.match(stdout, /DOWNLINK_UPLOAD_CONCURRENCY","msg":"a change in the file has no effect: the environment takes/);
  assert.doesNotMatch(stdout, /DOWNLINK_UPLOAD_RATE","msg":"a change in the file has no effect/);
});

function wantsImportOf(cloud: FakeCloud, path: string): boolean | undefined {
  const item = cloud.at(path);
  return item?.state === "indexed" ? item.wantsImport : undefined;
}

function hellosOf(cloud: FakeCloud): number {
  return cloud.calls.filter(({ name }) => name === "hello").length;
}

/** Makes a device, a control plane, and a file of settings beside those of the command line. */
async function openBed(text: string) {
  const device: Device = makeDevice();
  const cloud = await FakeCloud.start();
  const path = join(device.root, "..", "agent.env");
  const own = [
    "--token",
    cloud.token,
    "--url",
    cloud.url,
    "--storage-root",
    device.root,
    "--state-dir",
    device.stateDir,
  ];
  const edit = (next: string) => writeFileSync(path, QUICK_SETTINGS + next);
  edit(text);
  return {
    ...{ device, cloud, path, edit },
    replace(next: string): void {
      writeFileSync(`${path}.new`, QUICK_SETTINGS + next);
      renameSync(`${path}.new`, path);
    },
    start: (environment?: Record<string, string>) => startAgent([...own, "--config", path, "run"], environment),
    until: (what: string, isTrue: Parameters<typeof untilStatus>[2]) => untilStatus(device.stateDir, what, isTrue),
    async [Symbol.asyncDispose]() {
      await cloud[Symbol.asyncDispose]();
      device[Symbol.dispose]();
    },
  };
}

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startCloud } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { type EdgeAgentOptions, startEdgeAgent } from "../processes/edge-agent.ts";
import { askStatus } from "./ask-status.ts";

const isLinux = process.platform === "linux";

test("an overflow of the kernel's queue of notifications loses no file, nor any later one", {
  skip: !isLinux && "inotify is Linux's",
}, async (t) => {
  const { options, untilFound } = await setUp(t);
  mkdirSync(join(options.storageRoot, "day"));
  // Every file that is found below is found because of a notification.
  await using agent = startEdgeAgent({ ...options, env: { DOWNLINK_WATCH_SCAN_INTERVAL: "1h" } });
  await writeRecording(options, "day/before.mcap");
  await untilFound("day/before.mcap");

  process.kill(agent.pid, "SIGSTOP");
  overflowQueue(options);
  renameSync(join(options.storageRoot, "day"), join(options.storageRoot, "past"));
  mkdirSync(join(options.storageRoot, "day"));
  await writeRecording(options, "day/meanwhile.mcap");
  process.kill(agent.pid, "SIGCONT");
  await untilFound("past/before.mcap", "day/meanwhile.mcap");
  await writeRecording(options, "day/later.mcap");
  await untilFound("past/before.mcap", "day/meanwhile.mcap", "day/later.mcap");
  assert.equal(await agent.end("SIGTERM"), 0);
});

/** Each rename is two events, and no event equals the one before it. */
function overflowQueue({ storageRoot }: EdgeAgentOptions): void {
  const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  const [here, there] = [join(storageRoot, "day/here"), join(storageRoot, "day/there")];
  writeFileSync(here, "");
  for (let events = 0; events <= limit; events += 4) {
    renameSync(here, there);
    renameSync(there, here);
  }
}

const limits = [
  { name: "max_inotify_watches", value: 3, error: /ENOSPC/ },
  { name: "max_inotify_instances", value: 0, error: /EMFILE/ },
];

test("an agent that may not watch all directories reports it, finds everything by scanning, and watches once it may", {
  concurrency: true,
}, async (t) => {
  await Promise.all(limits.map((limit) => t.test(limit.name, (sub) => meetLimit(sub, limit))));
});

/** The limit holds only for one user namespace, which is the agent's. */
async function meetLimit(t: TestContext, { name, value, error }: (typeof limits)[number]): Promise<void> {
  const path = `/proc/sys/user/${name}`;
  const within = [
    "unshare",
    "--user",
    "--map-root-user",
    "--",
    "sh",
    "-c",
    `echo ${value} > ${path} && exec "$@"`,
    "-",
  ];
  if (!canRun([...within, "true"])) return t.skip("no user namespace can be had here");
  const { options, untilFound } = await setUp(t);
  const names = Array.from({ length: 5 }, (_, index) => `${index}/${index}.mcap`);
  for (const [index] of names.entries()) mkdirSync(join(options.storageRoot, String(index)));
  await using agent = startEdgeAgent({ ...options, within });
  const isNamed = ({ code, detail }: { code: string; detail: string }) => code === "WatchLimit" && error.test(detail);
  const status = () => askStatus(options);
  await eventually(status, (shown) => shown?.problems.some(isNamed) ?? false);
  for (const path of names) await writeRecording(options, path);
  await untilFound(...names);
  assert.ok(canRun(["nsenter", "--target", String(agent.pid), "--user", "--", "sh", "-c", `echo 1000 > ${path}`]));
  await eventually(status, (shown) => shown?.health === "healthy");
  assert.equal(await agent.end("SIGTERM"), 0);
}

function canRun([command, ...args]: readonly string[]): boolean {
  try {
    execFileSync(command!, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "downlink-watch-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [storageRoot, stateDir] = [join(folder, "root"), join(folder, "state")];
  mkdirSync(storageRoot);
  const cloud = await startCloud(t);
  const device = await cloud.admin.call(api.devices.create, { name: "rover" });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  const options: EdgeAgentOptions = { url: cloud.url, token: token!, storageRoot, stateDir };
  const untilFound = async (...paths: string[]) => {
    const list = () => cloud.admin.call(api.recordings.list, {});
    await eventually(list, (all) => paths.length === all.length && all.every(({ path }) => paths.includes(path)));
  };
  return { options, untilFound };
}

async function writeRecording({ storageRoot }: EdgeAgentOptions, path: string): Promise<void> {
  writeFileSync(join(storageRoot, path), await makeMcap({ durationSeconds: 0.1 }));
}

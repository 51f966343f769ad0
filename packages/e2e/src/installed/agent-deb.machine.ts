import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { writeLargeFile } from "../processes/large-file.ts";
import { type Plant, plantControlPlane } from "./control-plane.ts";
import { bring, type Machine, runWell, startMachine, whyNoMachine } from "./machine.ts";
import { packageFile } from "./packages.ts";

const deb = packageFile("downlink-agent_*_amd64.deb");
const skip = whyNoMachine() ?? (deb === undefined ? "no package was made" : false);

let machine: Machine;
let plant: Plant;

before(async () => {
  if (skip !== false) return;
  machine = await startMachine();
  plant = await plantControlPlane();
});
after(async () => {
  await machine?.[Symbol.asyncDispose]();
  await plant?.[Symbol.asyncDispose]();
});

interface Status {
  readonly health: string;
  readonly transfers: readonly { readonly sentBytes: number }[];
}
const status = async () => JSON.parse((await machine.run("agent status --json")).output) as Status;
const mainPid = async () => (await runWell(machine, "systemctl show -P MainPID downlink-agent")).trim();

test("the package is installed, enrolled in one line, and runs as a service of its own user", { skip }, async () => {
  await bring(machine, deb!);
  await mkdir(join(machine.root, "srv/recordings"));
  await writeFile(join(machine.root, "srv/token"), await plant.makeToken("installed"), { mode: 0o600 });
  await runWell(machine, "dpkg -i /srv/*.deb");
  await runWell(machine, "systemctl is-enabled downlink-agent && ! systemctl is-active downlink-agent");
  const enrolled = await runWell(
    machine,
    `agent enroll --url ${plant.url} --storage-root /srv/recordings --token-file /srv/token`,
  );
  assert.match(enrolled, /systemctl enable --now downlink-agent/);
  assert.doesNotMatch(enrolled, /Left to be done/);
  await runWell(machine, "systemctl enable --now downlink-agent");
  await eventually(status, ({ health }) => health === "healthy");
  assert.match(await runWell(machine, "systemctl status downlink-agent"), /Active: active \(running\)[\s\S]*connected/);
  assert.match(await runWell(machine, "journalctl -u downlink-agent"), /agent started/);
  assert.equal((await runWell(machine, `ps -o user= -p ${await mainPid()}`)).trim().slice(0, 7), "downlin");
  assert.equal((await runWell(machine, "stat -c '%U:%G %a' /etc/downlink/agent.env")).trim(), "root:downlink 640");
  assert.match(
    await runWell(machine, "tr '\\0' ' ' < /proc/$(systemctl show -P MainPID downlink-agent)/cmdline"),
    /^\/usr\/lib\/downlink-agent\/version\/bin\/node /,
  );
});

test("an agent that is killed, or hangs, is started again", { skip }, async () => {
  const first = await mainPid();
  await runWell(machine, `kill -9 ${first}`);
  await eventually(mainPid, (pid) => pid !== "0" && pid !== first);
  await eventually(status, ({ health }) => health === "healthy");
  const second = await mainPid();
  await runWell(machine, `kill -STOP ${second}`);
  await eventually(mainPid, (pid) => pid !== "0" && pid !== second);
  assert.match(await runWell(machine, "journalctl -u downlink-agent"), /[Ww]atchdog timeout/);
});

test("an upload goes on after the power was cut in the middle of it, and every byte arrives", { skip }, async () => {
  await runWell(machine, "echo DOWNLINK_UPLOAD_RATE=1MB/s >> /etc/downlink/agent.env");
  const path = await writeLargeFile({ storageRoot: join(machine.root, "srv/recordings") });
  const { admin } = plant.cloud;
  const recordings = () => admin.call(api.recordings.list, {});
  const [only] = await eventually(recordings, (found) => found.length === 1);
  await admin.call(api.recordings.requestImport, { keyOrId: only!.id });
  await eventually(status, ({ transfers }) => transfers.some(({ sentBytes }) => sentBytes > 0));
  await machine.cutPower();
  await eventually(recordings, ([one]) => one?.importStatus === "complete");
  assert.equal(await plant.storedBytes(), statSync(path).size);
});

test("purge removes state, token and user, leaves the recordings and their marker, and says so", { skip }, async () => {
  const said = await runWell(machine, "dpkg --purge downlink-agent 2>&1");
  assert.match(said, /The recordings stay[\s\S]*\/srv\/recordings/);
  const left = ["var/lib/downlink-agent", "etc/downlink", "usr/lib/downlink-agent", "usr/bin/agent"];
  assert.deepEqual(
    left.filter((path) => existsSync(join(machine.root, path))),
    [],
  );
  assert.deepEqual(readdirSync(join(machine.root, "srv/recordings")).sort(), [".downlink-root", "large.mcap"]);
  await runWell(machine, "! getent passwd downlink-agent && ! getent group downlink");
});

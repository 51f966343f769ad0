import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { bring, type Machine, runWell, startMachine, whyNoMachine } from "./machine.ts";
import { packageFile } from "./packages.ts";

const deb = packageFile("downlink_*_amd64.deb");
const agentDeb = packageFile("downlink-agent_*_amd64.deb");
const skip = whyNoMachine() ?? (deb === undefined || agentDeb === undefined ? "no packages were made" : false);
/** The network is that of this machine, on which something else may have the usual port. */
const PORT = 18_080;
const URL = `http://127.0.0.1:${PORT}`;

let machine: Machine;
before(async () => {
  if (skip === false) machine = await startMachine();
});
after(async () => await machine?.[Symbol.asyncDispose]());

const isReady = async () => (await machine.run(`curl -fsS ${URL}/readyz`)).code === 0;
const call = (path: string, body?: object) =>
  runWell(
    machine,
    `curl -fsS -H "Authorization: Bearer $(cat /var/lib/downlink/data/admin.key)" ${
      body === undefined ? "" : `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
    } ${URL}${path}`,
  );

test("the control plane is installed and serves, with its own Postgres, pages and settings", { skip }, async () => {
  await bring(machine, deb!, agentDeb!);
  const settings = `DOWNLINK_DATA_DIR=/var/lib/downlink/data\nDOWNLINK_PUBLIC_URL=${URL}\nDOWNLINK_PORT=${PORT}\n`;
  await runWell(
    machine,
    `mkdir /etc/downlink; printf %s '${settings}' > /etc/downlink/downlink.env; chmod 600 /etc/downlink/*`,
  );
  await runWell(machine, "dpkg -i /srv/downlink_*.deb");
  await eventually(isReady, (ready) => ready);
  assert.match(await runWell(machine, "systemctl status downlink"), /Active: active \(running\)/);
  assert.match(await runWell(machine, "ps -o user=,args= -p $(systemctl show -P MainPID downlink)"), /^downlink /);
  assert.match(await runWell(machine, `curl -fsS ${URL}/`), /<title>/);
  assert.match(await call("/v1/recordings"), /\[\]|"data"/);
  assert.equal((await runWell(machine, "stat -c '%U %a' /var/lib/downlink/data/admin.key")).trim(), "downlink 600");
  assert.notEqual((await machine.run("setpriv --reuid=nobody --clear-groups cat /etc/downlink/downlink.env")).code, 0);
});

test("root's commands get the settings of the service and run as its user", { skip }, async () => {
  assert.match(await runWell(machine, "downlink --help"), /Usage: downlink/);
  await runWell(machine, "downlink admin status");
  assert.equal((await runWell(machine, "find /var/lib/downlink ! -user downlink")).trim(), "");
});

test("an agent goes on across an installation of the control plane over itself", { skip }, async () => {
  const { id } = JSON.parse(await call("/v1/devices", { name: "robot" })) as { id: string };
  const { token } = JSON.parse(await call("/v1/device-tokens", { deviceId: id })) as { token: string };
  await runWell(machine, "dpkg -i /srv/downlink-agent_*.deb; mkdir -p /srv/recordings");
  const flags = `--url ${URL} --storage-root /srv/recordings --token-file -`;
  await runWell(machine, `echo ${token} | agent enroll ${flags} && systemctl enable --now downlink-agent`);
  const health = async () =>
    (JSON.parse((await machine.run("agent status --json")).output) as { health: string }).health;
  await eventually(health, (now) => now === "healthy");
  const before = (await runWell(machine, "systemctl show -P MainPID downlink")).trim();
  await runWell(machine, "dpkg -i /srv/downlink_*.deb");
  await eventually(isReady, (ready) => ready);
  assert.notEqual((await runWell(machine, "systemctl show -P MainPID downlink")).trim(), before);
  await eventually(health, (now) => now === "healthy");
});

test("purge leaves the data, and says so", { skip }, async () => {
  const said = await runWell(machine, "dpkg --purge downlink 2>&1");
  assert.match(said, /data stays in \/var\/lib\/downlink/);
  assert.ok(existsSync(join(machine.root, "var/lib/downlink/data/admin.key")));
  assert.ok(!existsSync(join(machine.root, "usr/lib/downlink")));
  assert.match(await runWell(machine, "agent --help"), /Usage: agent/);
});

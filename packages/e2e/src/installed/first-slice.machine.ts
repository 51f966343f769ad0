import assert from "node:assert/strict";
import { cpSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { bring, type Machine, runWell, startMachine, whyNoMachine } from "./machine.ts";
import { packageFile } from "./packages.ts";

const deb = packageFile("downlink_*_amd64.deb");
const cliDeb = packageFile("downlink-cli_*_amd64.deb");
const manifest = packageFile("downlink-agent-*.manifest.json.sig");
const skip =
  whyNoMachine() ??
  (deb === undefined || cliDeb === undefined || manifest === undefined ? "no signed packages were made" : false);
const PORT = 18_090;
const URL = `http://127.0.0.1:${PORT}`;
const INSTALL = `curl -fsSL ${URL}/install.sh | sh -s --`;

let machine: Machine;
before(async () => {
  if (skip !== false) return;
  machine = await startMachine();
  // A person who has no rights, and a robot's recordings.
  await runWell(machine, "useradd --create-home person");
  mkdirSync(join(machine.root, "data"));
  writeFileSync(join(machine.root, "data/run.mcap"), await makeMcap({ durationSeconds: 2 }));
});
after(async () => await machine?.[Symbol.asyncDispose]());

const run = (script: string) => runWell(machine, script);
const asPerson = (script: string) => runWell(machine, `runuser -l person -c '${script}'`);

test("the control plane is installed by apt, and dl by a person without rights", { skip }, async () => {
  await bring(machine, deb!, cliDeb!);
  const settings = `DOWNLINK_DATA_DIR=/var/lib/downlink/data\nDOWNLINK_PUBLIC_URL=${URL}\nDOWNLINK_PORT=${PORT}\n`;
  await run(`mkdir /etc/downlink; printf %s '${settings}' > /etc/downlink/downlink.env; chmod 600 /etc/downlink/*`);
  await run("apt-get install --yes --no-install-recommends /srv/downlink_*.deb /srv/downlink-cli_*.deb");
  await run("systemctl enable --now downlink");
  await run(`curl --retry 60 --retry-delay 1 --retry-all-errors -fsS ${URL}/readyz`);
  const journal = await run("journalctl -u downlink");
  assert.deepEqual([/admin API key is in/.test(journal), journal.includes("dl_sk_")], [true, false]);
  assert.match(await run(`curl -fsS ${URL}/guide/start/install`), /<title>/);
  assert.match(await asPerson("dl --version"), /^\d+\.\d+\.\d+\n$/);
  await run(`cat /var/lib/downlink/data/admin.key | runuser -l person -c 'dl login ${URL}'`);
  for (const page of ["dl", "downlink"]) await run(`gzip -t /usr/share/man/man1/${page}.1.gz`);
});

test("without packages of the agent beside the control plane, a shell gets no script", { skip }, async () => {
  const { code, output } = await machine.run(`${INSTALL} --uninstall; curl -sS ${URL}/install.sh`);
  assert.equal(code, 0);
  assert.match(output, /the operator set no DOWNLINK_AGENT_PACKAGES/);
});

const WRONG: readonly (readonly [string, RegExp])[] = [
  ["--storage-root data --token-file /srv/token", /has to be named from \/ on/],
  ["--storage-root /data/run.mcap --token-file /srv/token", /there is no folder/],
  ["--storage-root /data --token-file /nowhere", /\/nowhere cannot be read/],
  ["--storage-root /data --token-file /etc/hostname", /holds no token/],
];

test("one line joins a robot, by packages that are signed; others are refused before anything is installed", {
  skip,
}, async () => {
  placeRelease();
  await run("echo DOWNLINK_AGENT_PACKAGES=/srv/release >> /etc/downlink/downlink.env; systemctl restart downlink");
  await run(`curl --retry 60 --retry-delay 1 --retry-all-errors -fsS ${URL}/readyz`);
  const printed = await run(`downlink admin add-device rover-1 --storage-root /data --url ${URL}`);
  const [token] = /dl_dt_\w+/.exec(printed) ?? assert.fail(printed);
  await run(`(umask 077; echo ${token} > /srv/token)`);
  const install = `${INSTALL} --storage-root /data --token-file /srv/token`;
  for (const [wrong, why] of WRONG) assert.match((await machine.run(`${INSTALL} ${wrong} 2>&1`)).output, why);
  const refused = async (change: string, back: string, why: RegExp) => {
    await run(change);
    assert.match((await machine.run(`${install} 2>&1`)).output, why);
    assert.notEqual((await machine.run("command -v agent")).code, 0);
    await run(back);
  };
  await refused(
    "truncate -s +1 /srv/release/downlink-agent_*_amd64.deb",
    "truncate -s -1 /srv/release/downlink-agent_*_amd64.deb",
    /is not what was signed/,
  );
  await refused(
    "sed -i s/commit/Commit/ /srv/release/*.manifest.json",
    "sed -i s/Commit/commit/ /srv/release/*.manifest.json",
    /is not signed by/,
  );
  await refused(
    "openssl genpkey -algorithm ed25519 | openssl pkey -pubout > /etc/downlink/release.pub",
    "rm /etc/downlink/release.pub",
    /is not signed by \/etc\/downlink\/release\.pub/,
  );
  assert.match(await run(install), /The agent runs/);
  await eventually(
    async () => (await machine.run("agent status")).code,
    (code) => code === 0,
  );
  await run("cmp /etc/downlink/release.pub /srv/release/release.pub");
  assert.match(await run(install), /is joined already/);
});

test("its recording is listed, imported and exported as a file, by a person without rights", { skip }, async () => {
  const list = async () => JSON.parse(await asPerson("dl ls --json")) as { id: string; messageCount: number }[];
  const [recording] = await eventually(list, (found) => found.length === 1);
  await asPerson(`dl import ${recording!.id} --watch`);
  await asPerson(`dl export ${recording!.id} -o slice.mcap`);
  assert.match(await asPerson("head -c 5 slice.mcap | tail -c 4"), /MCAP/);
});

test("the script removes the agent, and leaves the recordings", { skip }, async () => {
  await run(`${INSTALL} --uninstall`);
  assert.match(await run(`${INSTALL} --uninstall`), /No agent is installed/);
  assert.notEqual((await machine.run("command -v agent")).code, 0);
  assert.doesNotMatch(await run("getfacl -Rc /data"), /^(default:)?user:[^:]/m); // the user's number may become that of another one
  await run("test -e /data/run.mcap && ! test -e /etc/downlink/agent.env && ! test -e /var/lib/downlink-agent");
});

test("a control plane that was removed and is installed again starts with the data that it had", { skip }, async () => {
  await run("apt-get remove --yes downlink && apt-get install --yes --no-install-recommends /srv/downlink_*.deb");
  await run(`curl --retry 60 --retry-delay 1 --retry-all-errors -fsS ${URL}/readyz`);
  assert.equal((JSON.parse(await asPerson("dl ls --json")) as unknown[]).length, 1);
  assert.match((await machine.run("runuser -l person -c 'downlink admin status' 2>&1")).output, /do this as root/);
  for (const word of ["--help", "admin --help", "--version"]) await asPerson(`downlink ${word}`);
});

test("the archives run where a person unpacks them", { skip }, async () => {
  for (const name of ["downlink", "downlink-agent", "downlink-cli"])
    await bring(machine, packageFile(`${name}-[0-9]*-linux-x64.tar.gz`)!);
  await asPerson("for archive in /srv/*.tar.gz; do tar -xf $archive; done");
  await asPerson(
    "downlink-cli-*/bin/dl --version; downlink-agent-*/bin/agent --version; downlink-*-linux-x64/bin/downlink --version",
  );
  const start =
    "DOWNLINK_PORT=18091 DOWNLINK_DATA_DIR=~/kept nohup downlink-[0-9]*-linux-x64/bin/downlink all > log 2>&1 & echo $! > pid";
  await asPerson(start);
  await run("curl --retry 60 --retry-delay 1 --retry-all-errors -fsS http://127.0.0.1:18091/readyz");
  await asPerson("kill $(cat pid)");
  await eventually(
    async () => (await machine.run("pgrep -u person postgres")).code,
    (code) => code === 1,
  );
});

/** Puts the files of the release where the control plane reads them. */
function placeRelease(): void {
  const from = dirname(manifest!);
  const to = join(machine.root, "srv/release");
  mkdirSync(to);
  for (const name of globSync(["install.sh", "release.pub", "downlink-agent*"], { cwd: from }))
    cpSync(join(from, name), join(to, name));
}

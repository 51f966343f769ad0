import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually } from "@downlink/recordings/testing";
import { defaultLimits } from "../../process/limits/limits.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const SCRIPT = fileURLToPath(new URL("../../../../agent/packaging/install.sh", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "downlink-release-"));
after(() => rmSync(folder, { recursive: true }));
for (const version of ["0.9.0", "0.10.0"]) {
  writeFileSync(join(folder, `downlink-agent-${version}.manifest.json`), version);
  writeFileSync(join(folder, `downlink-agent-${version}.manifest.json.sig`), `signature of ${version}`);
  writeFileSync(join(folder, `downlink-agent_${version}_amd64.deb`), `package ${version}`);
}
writeFileSync(join(folder, "key"), "the private half");
const cloud = await startCloud({ after }, { works: false, environment: { DOWNLINK_AGENT_PACKAGES: folder } });
const plain = await startCloud({ after }, { works: false });

const read = async (path: string, url = cloud.url) => {
  const answer = await fetch(`${url}${path}`);
  return { status: answer.status, text: await answer.text() };
};

test("a folder without a signed release gives nothing, and says what it lacks", async () => {
  const { status, text } = await read("/install.sh");
  assert.equal(status, 404);
  assert.match(text, /DOWNLINK_AGENT_PACKAGES has no install\.sh and no release\.pub/);
  assert.deepEqual(JSON.parse((await read("/agent-packages")).text), { files: [] });
  copyFileSync(SCRIPT, join(folder, "install.sh"));
  writeFileSync(join(folder, "release.pub"), "the public half");
  assert.equal((await read("/install.sh")).status, 200);
});

test("the script has the address of this control plane, and is one that a shell takes", async () => {
  const { text } = await read("/install.sh");
  assert.match(text, new RegExp(`^CONTROL_PLANE='${cloud.url}' `, "m"));
  assert.equal(spawnSync("sh", ["-n"], { input: text }).status, 0);
});

test("packages are given by their names, the newest release also as latest, and nothing else of the folder", async () => {
  assert.equal((await read("/agent-packages/downlink-agent_0.9.0_amd64.deb")).text, "package 0.9.0");
  assert.equal((await read("/agent-packages/latest.manifest.json")).text, "0.10.0");
  assert.equal((await read("/agent-packages/latest.manifest.json.sig")).text, "signature of 0.10.0");
  for (const name of [
    "key",
    "install.sh",
    "downlink-agent_0.8.0_amd64.deb",
    "..%2fkey",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
  ])
    assert.equal((await read(`/agent-packages/${name}`)).status, 404, name);
});

test("a package is as long as its head says, and a folder with the name of one is none", async () => {
  const head = await fetch(`${cloud.url}/agent-packages/downlink-agent_0.9.0_amd64.deb`, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, `${"package 0.9.0".length}`]);
  mkdirSync(join(folder, "downlink-agent_0.7.0_amd64.deb"));
  assert.equal((await read("/agent-packages/downlink-agent_0.7.0_amd64.deb")).status, 404);
  rmSync(join(folder, "downlink-agent_0.7.0_amd64.deb"), { recursive: true });
  writeFileSync(join(folder, "downlink-agent_0.7.0_amd64.deb"), ""); // a copy of it has only begun
  assert.equal((await read("/agent-packages/downlink-agent_0.7.0_amd64.deb")).status, 404);
  rmSync(join(folder, "downlink-agent_0.7.0_amd64.deb"));
});

test("the list names what a robot can install, and is empty without the setting", async () => {
  const { files } = JSON.parse((await read("/agent-packages")).text) as { files: string[] };
  assert.deepEqual(
    [files.length, files.includes("downlink-agent_0.10.0_amd64.deb"), files.includes("key")],
    [7, true, false],
  );
  assert.deepEqual(JSON.parse((await read("/agent-packages", plain.url)).text), { files: [] });
});

test("without the setting there is no script, so that a shell gets none from `curl -f`", async () => {
  const { status, text } = await read("/install.sh", plain.url);
  assert.equal(status, 404);
  assert.match(text, /the operator set no DOWNLINK_AGENT_PACKAGES/);
  assert.equal((await read("/agent-packages/release.pub", plain.url)).status, 404);
});

test("a download that broke off goes on where it was, and one that is whole already is not sent again", async () => {
  const path = `${cloud.url}/agent-packages/downlink-agent_0.9.0_amd64.deb`;
  const rest = await fetch(path, { headers: { Range: "bytes=8-" } });
  assert.deepEqual([rest.status, await rest.text()], [206, "0.9.0"]);
  const again = await fetch(path, { headers: { "If-None-Match": rest.headers.get("etag")! } });
  assert.equal(again.status, 304);
});

test("an address has so many packages sent at once; a further one waits until one of them ends", async (t) => {
  const packages = { atOnce: 2, perOwner: 1, waiting: 1, waitMs: 60_000 };
  const environment = { DOWNLINK_AGENT_PACKAGES: folder };
  const narrow = await startCloud(t, {
    works: false,
    environment,
    limits: { turns: { ...defaultLimits.turns, packages } },
  });
  const large = join(folder, "downlink-agent_0.6.0_amd64.deb");
  writeFileSync(large, Buffer.alloc(32 * 1024 * 1024)); // more than the connection holds
  const ask = (name: string) => fetch(`${narrow.url}/agent-packages/${name}`);
  const slow = await ask("downlink-agent_0.6.0_amd64.deb");
  const waits = ask("release.pub");
  await eventually(
    () => narrow.deps.turns.packages.countOf("127.0.0.1"),
    (count) => count === 2,
  );
  assert.equal((await ask("release.pub")).status, 503);
  assert.equal((await slow.bytes()).length, 32 * 1024 * 1024);
  assert.equal(await (await waits).text(), "the public half");
  rmSync(large);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { runAgent } from "../testing/start-agent.ts";

test("a secret of any form is taken out, wherever it turns up", async (t) => {
  using device = makeDevice();
  const directory = mkdtempSync(join(tmpdir(), "downlink-support-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const secret = "s3cret-of-no-known-kind";
  await using server = await startEcho();
  const out = join(directory, "bundle.tar.gz");
  const flags = ["--token", secret, "--url", server.url, "--storage-root", device.root, "--state-dir", device.stateDir];
  assert.equal((await runAgent(...flags, "support-bundle", "--out", out)).code, 0);
  const archive = gunzipSync(readFileSync(out)).toString();
  assert.match(archive, /the token Bearer … is unknown/);
  assert.ok(!archive.includes(secret));
});

/** A server that repeats in its answer what it was sent. */
async function startEcho(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url, headers }, response) => {
    const isAlive = url === "/livez";
    const refusal = { error: `the token ${headers.authorization} is unknown`, code: "Unauthenticated" };
    response.writeHead(isAlive ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isAlive ? { status: "live" } : refusal));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("the support bundle tells how agent, settings and system are, and holds no secret", async (t) => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("the file is reported", ({ files }) => files.reported === 1);
  const directory = mkdtempSync(join(tmpdir(), "downlink-support-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const out = join(directory, "bundle.tar.gz");
  const flags = [
    "--token",
    cloud.token,
    "--url",
    cloud.url,
    "--storage-root",
    device.root,
    "--state-dir",
    device.stateDir,
  ];
  const { code, stdout } = await runAgent(...flags, "support-bundle", "--out", out);
  assert.deepEqual([code, stdout.includes(out)], [0, true]);
  assert.equal(statSync(out).mode & 0o777, 0o600);

  execFileSync("tar", ["-xzf", out, "-C", directory]);
  const read = (name: string) => readFileSync(join(directory, "downlink-support", name), "utf8");
  const names = readdirSync(join(directory, "downlink-support")).sort();
  assert.deepEqual(names, ["config.json", "database.json", "doctor.json", "journal.log", "status.json", "system.json"]);
  for (const name of names) assert.ok(!read(name).includes(cloud.token), name);
  assert.match(read("config.json"), /dl_dt_…GHIJ/);
  assert.equal((JSON.parse(read("database.json")) as { rows: { files: number } }).rows.files, 1);
  assert.equal((JSON.parse(read("status.json")) as { files: { reported: number } }).files.reported, 1);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { answerJson, serve } from "@downlink/client/testing";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { flagsFor, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { runAgent } from "../testing/start-agent.ts";

test("a secret of any form is taken out, wherever it turns up", async (t) => {
  using device = makeDevice();
  const directory = mkdtempSync(join(tmpdir(), "downlink-support-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const secret = "s3cret-of-no-known-kind";
  await using server = await startEcho();
  const out = join(directory, "bundle.tar.gz");
  assert.equal(
    (await runAgent(...flagsFor(device, { url: server.url, token: secret }), "support-bundle", "--out", out)).code,
    0,
  );
  const archive = gunzipSync(readFileSync(out)).toString();
  assert.match(archive, /the token Bearer … is unknown/);
  assert.ok(!archive.includes(secret));
});

/** Starts a server that repeats in its answer what it received. */
function startEcho() {
  return serve(({ url, headers }, response) => {
    if (url === "/livez") return answerJson(response, 200, { status: "live" });
    answerJson(response, 401, { error: `the token ${headers.authorization} is unknown`, code: "Unauthenticated" });
  });
}

test("the support bundle says how agent, settings and system are, and holds no secret", async (t) => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("the file is reported", ({ files }) => files.reported === 1);
  const directory = mkdtempSync(join(tmpdir(), "downlink-support-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const out = join(directory, "bundle.tar.gz");
  const { code, stdout } = await runAgent(...flagsFor(device, cloud), "support-bundle", "--out", out);
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

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { createTestDatabase } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { startControlPlane } from "./processes/control-plane.ts";
import { startProgram } from "./processes/program.ts";

const commands = [
  ["migrate"],
  ["admin", "sweep"],
  ["admin", "sweep", "--dry-run"],
  ["admin", "reindex", "--all"],
  ["admin", "check"],
  ["admin", "recovery"],
];

test("every command works beside a running control plane with its own Postgres, and leaves it running", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-beside-"));
  t.after(() => rm(dataDir, { recursive: true }));
  await using cloud = await startControlPlane({ dataDir });
  await assertCommandsWork(cloud.url, { DOWNLINK_DATA_DIR: dataDir });
  assert.deepEqual(await cloud.admin.call(api.devices.list, {}), []);
});

test("every command works beside a control plane whose database is somebody else's", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-beside-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const env = { DATABASE_URL: await createTestDatabase(t) };
  await using cloud = await startControlPlane({ dataDir, env });
  await assertCommandsWork(cloud.url, { DOWNLINK_DATA_DIR: dataDir, ...env });
});

test("a command without a control plane starts a Postgres for itself, and stops it", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-beside-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const env = { DOWNLINK_DATA_DIR: dataDir };
  const output = await runCommand(["admin", "create-org", "early"], env);
  const token = /dl_sk_\w+$/.exec(output)?.[0];
  await using cloud = await startControlPlane({ dataDir });
  const early = createClient({ baseUrl: cloud.url, token: token!, transport: undiciTransport() });
  assert.deepEqual(await early.call(api.devices.list, {}), []);
});

async function assertCommandsWork(url: string, env: Readonly<Record<string, string>>): Promise<void> {
  const output = await runCommand(["admin", "create-org", "beside"], env);
  const token = /admin API key \(shown once\): (\S+)/.exec(output)?.[1];
  const other = createClient({ baseUrl: url, token: token!, transport: undiciTransport() });
  await other.call(api.devices.create, { name: "rover" });
  assert.equal((await other.call(api.devices.list, {})).length, 1);
  for (const command of commands) await runCommand(command, env);
}

/** Runs a command to its end, which must be a success, and returns what it printed. */
async function runCommand(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  await using program = startProgram({ script: "cloud/src/main.ts", args, env });
  assert.equal(await program.ended, 0, `${args.join(" ")}:\n${program.output()}`);
  return program.output();
}

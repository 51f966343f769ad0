import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually } from "@downlink/recordings/testing";
import { writeLargeFile } from "./processes/large-file.ts";
import { startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const CUTS = 20;
/** A hundredth of a gigabyte. */
const MOST_TWICE_BYTES = 10_000_000;

test("dl get survives twenty cuts of its connection and kill -9, and fetches hardly anything twice", async (t) => {
  const scenario = await startScenario(t);
  const original = await writeLargeFile(scenario);
  const { size } = statSync(original);
  scenario.startAgent();
  const id = await scenario.requestOnly();
  await scenario.until("complete");
  const folder = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const before = scenario.proxy.returnedBytes();
  const start = () => startGet({ id, folder, url: scenario.proxy.url, key: scenario.cloud().adminKey });
  let running = start();
  for (let cut = 1; cut <= CUTS; cut++) {
    await eventually(
      async () => hereBytes(folder),
      (bytes) => bytes >= (size * cut) / (CUTS + 2) || running.exitCode !== null,
    );
    scenario.proxy.cut();
    if (cut !== CUTS / 2) continue;
    running.kill("SIGKILL");
    await once(running, "exit");
    assert.ok(hereBytes(folder) > 0);
    running = start();
  }
  const [code] = running.exitCode === null ? await once(running, "exit") : [running.exitCode];
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(folder), ["large.mcap"]);
  assert.ok(readFileSync(original).equals(readFileSync(join(folder, "large.mcap"))));
  const twice = scenario.proxy.returnedBytes() - before - size;
  assert.ok(twice < MOST_TWICE_BYTES, `${twice} of ${size} bytes came twice`);
});

interface Getting {
  readonly id: string;
  readonly folder: string;
  readonly url: string;
  readonly key: string;
}

function startGet({ id, folder, url, key }: Getting): ChildProcess {
  const env = { ...process.env, XDG_CONFIG_HOME: folder, DOWNLINK_API_URL: url, DOWNLINK_API_KEY: key };
  return spawn(process.execPath, [PROGRAM, "get", id], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
}

function hereBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

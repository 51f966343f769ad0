import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { writeMcapFile } from "@downlink/recordings/testing";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
/** So many cuts for so many bytes, as 20 cuts of 1 GB. */
const [MEGABYTES, CUTS] = [128, 4];
/** A cut loses what is on its way in the buffers of three connections. */
const LOST_BY_CUT_BYTES = 512_000;

test(`dl upload sends at most ${LOST_BY_CUT_BYTES} bytes again for each cut of its link, wherever that comes`, async (t) => {
  const scenario = await startScenario(t);
  const path = join(scenario.storageRoot, "large.mcap");
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 800_000 }];
  await writeMcapFile(path, { topics, durationSeconds: MEGABYTES / 8, compression: "" });
  const { size } = await stat(path);
  const before = scenario.proxy.sentBytes();
  const program = startUpload(scenario, path);
  const ended = once(program, "close");
  const cuts = await Promise.race([cutAtRandom(scenario, size, before), ended.then(() => assert.fail("dl ended"))]);
  const [code] = await ended;
  const twice = scenario.proxy.sentBytes() - before - size;
  t.diagnostic(`${twice} bytes more than ${size} for cuts at ${cuts.join(", ")}`);
  assert.equal(code, 0);
  const [stored] = await scenario.storedObjects();
  assert.equal(stored!.sha256, await sha256Of(path));
  assert.ok(twice <= CUTS * LOST_BY_CUT_BYTES, `${twice} bytes more than ${size} were sent`);
});

/** Cuts the link as soon as so many bytes have passed it. Returns where, in the order of the cuts. */
async function cutAtRandom({ proxy }: Scenario, size: number, before: number): Promise<number[]> {
  const cuts = Array.from({ length: CUTS }, () => randomInt(size)).sort((a, b) => a - b);
  for (const at of cuts) {
    proxy.holdAfter(Math.max(before + at, proxy.sentBytes()));
    await proxy.held();
    proxy.cut();
  }
  proxy.holdAfter(Number.POSITIVE_INFINITY);
  return cuts;
}

function startUpload({ proxy, cloud, storageRoot }: Scenario, path: string) {
  const env = { ...process.env, HOME: storageRoot, XDG_CONFIG_HOME: storageRoot, XDG_STATE_HOME: storageRoot };
  return spawn(process.execPath, [PROGRAM, "upload", path, "--device", "rover"], {
    env: { ...env, DOWNLINK_API_URL: proxy.url, DOWNLINK_API_KEY: cloud().adminKey },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

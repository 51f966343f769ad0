import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { type Scenario, sha256Of, startScenario } from "../processes/scenario.ts";

const CHATTER_BYTES = 50_000;
const blob = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 12_000 }];

test("a slow link and a flipped bit cost time, and never a byte", async (t) => {
  const scenario = await startScenario(t);
  scenario.startAgent();

  await t.test("at 32 kB/s a file is uploaded in one go", async () => {
    const before = scenario.proxy.sentBytes();
    scenario.proxy.throttle(32_000);
    const sizeBytes = await deliver(scenario, "slow.mcap", 1);
    scenario.proxy.throttle(Number.POSITIVE_INFINITY);
    const sent = scenario.proxy.sentBytes() - before;
    assert.ok(sent < sizeBytes + CHATTER_BYTES, `${sent} bytes were sent of ${sizeBytes}`);
  });

  await t.test("a part with a wrong bit is refused and sent again: the stored object is the file", async () => {
    const isCorrupted = scenario.proxy.corrupt(16_000);
    await deliver(scenario, "disturbed.mcap", 5);
    await isCorrupted;
  });
});

/** Delivers a file and returns its size. */
async function deliver(scenario: Scenario, name: string, durationSeconds: number): Promise<number> {
  const path = join(scenario.storageRoot, name);
  const bytes = await makeMcap({ topics: blob, durationSeconds, compression: "" });
  await writeFile(path, bytes);
  const all = await eventually(scenario.recordings, (found) => found.some((one) => one.path === name));
  const { id } = all.find((one) => one.path === name)!;
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
  await scenario.until("complete", id);
  const sha256 = await sha256Of(path);
  const stored = (await scenario.storedObjects()).filter((object) => object.sha256 === sha256);
  assert.equal(stored.length, 1);
  return bytes.byteLength;
}

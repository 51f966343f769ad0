import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { addRecording, askFor, makeBad } from "./processes/bad-link.ts";
import { type Scenario, sha256Of, startScenario } from "./processes/scenario.ts";

/** The bytes that were in flight when the agent was killed, and those of reports, polls and the headers of each piece. */
const LOST_BYTES = 600_000;

async function assertStored(scenario: Scenario, { id, path }: { id: string; path: string }): Promise<void> {
  await scenario.until("complete", id);
  const objects = await scenario.storedObjects();
  assert.deepEqual(
    objects.map(({ sha256 }) => sha256),
    [await sha256Of(path)],
  );
}

// The link carries 64 kB/s and is cut every 40 s, here ten times as fast; `faults/cut-link.slow.ts` tests the link itself.
test("most of what a slow link carries that is cut again and again is kept", async (t) => {
  const scenario = await startScenario(t);
  scenario.startAgent();
  const added = await addRecording(scenario, { name: "drive.mcap", sizeBytes: 4_200_000 });
  using bad = makeBad(scenario.proxy, { bytesPerSecond: 640_000, cutEveryMs: 4000 });
  const before = scenario.proxy.sentBytes();
  await askFor(scenario, added.id);
  await assertStored(scenario, added);
  const carried = scenario.proxy.sentBytes() - before;
  const kept = added.bytes.byteLength / carried;
  t.diagnostic(`${(100 * kept).toFixed(0)} % of ${carried} bytes were kept, with ${bad.cuts()} cuts`);
  assert.ok(bad.cuts() > 0);
  assert.ok(kept >= 0.7, `${added.bytes.byteLength} of ${carried} bytes were kept`);
});

test("an agent that is killed in the middle of a part continues after the last piece that was acknowledged", async (t) => {
  const scenario = await startScenario(t, { agentEnv: { DOWNLINK_UPLOAD_RATE: "300kB/s" } });
  scenario.startAgent();
  const added = await addRecording(scenario, { name: "drive.mcap", sizeBytes: 2_000_000 });
  const before = scenario.proxy.sentBytes();
  const sentBytes = () => scenario.proxy.sentBytes() - before;
  await askFor(scenario, added.id);
  // By then pieces of 64 KiB, 256 KiB and 1 MiB have arrived and the next one is in flight; then comes a short one.
  for (const reached of [1_500_000, 1_700_000]) {
    await eventually(
      async () => sentBytes(),
      (bytes) => bytes > reached,
    );
    await scenario.agent().end("SIGKILL");
    scenario.startAgent();
  }
  await assertStored(scenario, added);
  t.diagnostic(`${sentBytes()} bytes for a file of ${added.bytes.byteLength}`);
  assert.ok(sentBytes() <= added.bytes.byteLength + LOST_BYTES, `${sentBytes()} bytes were sent`);
});

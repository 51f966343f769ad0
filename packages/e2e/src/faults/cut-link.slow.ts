import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { addRecording, askFor, type BadLink, makeBad } from "../processes/bad-link.ts";
import { sha256Of, startScenario } from "../processes/scenario.ts";

const PATIENCE_MS = 200_000;

const links: readonly (BadLink & { name: string; sizeBytes: number })[] = [
  { name: "64 kB/s, cut every 40 s", bytesPerSecond: 64_000, cutEveryMs: 40_000, sizeBytes: 4_200_000 },
  { name: "8 kB/s, cut every 30 s", bytesPerSecond: 8000, cutEveryMs: 30_000, sizeBytes: 600_000 },
];

for (const { name, sizeBytes, ...link } of links)
  test(`70 % and more of what a link of ${name} carries is kept`, async (t) => {
    const scenario = await startScenario(t);
    scenario.startAgent();
    const { id, path, bytes } = await addRecording(scenario, { name: "drive.mcap", sizeBytes });
    using bad = makeBad(scenario.proxy, link);
    const before = scenario.proxy.sentBytes();
    await askFor(scenario, id);
    const isStored = (all: Awaited<ReturnType<typeof scenario.recordings>>) =>
      all.some((one) => one.id === id && one.importStatus === "complete");
    await eventually(scenario.recordings, isStored, PATIENCE_MS);
    const carried = scenario.proxy.sentBytes() - before;
    const kept = bytes.byteLength / carried;
    t.diagnostic(`${bytes.byteLength} of ${carried} bytes kept, with ${bad.cuts()} cuts: ${(100 * kept).toFixed(0)} %`);
    assert.ok(bad.cuts() > 0);
    assert.ok(kept >= 0.7, `${bytes.byteLength} of ${carried} bytes were kept`);
    const sha256 = await sha256Of(path);
    assert.deepEqual(
      (await scenario.storedObjects()).map((object) => object.sha256),
      [sha256],
    );
  });

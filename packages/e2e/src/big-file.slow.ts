import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { importZeros } from "./big/import-zeros.ts";
import { startControlPlane } from "./processes/control-plane.ts";

const MB = 1e6;

test("a file of 2 GB is uploaded and imported with less than 400 MB of memory", async (t) => {
  if (process.platform !== "linux") return t.skip("memory is read from /proc");
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-big-"));
  try {
    await using cloud = await startControlPlane({ dataDir });
    await importZeros(cloud, 4 * MB, "warm-up");
    const { sizeBytes, messageCount, beforeBytes, peakBytes } = await importZeros(cloud, 2000 * MB, "big");
    const recording = await cloud.admin.call(api.recordings.get, { keyOrId: "big" });
    assert.deepEqual([recording.size, recording.importStatus], [sizeBytes, "complete"]);
    assert.equal(recording.end - recording.start, BigInt(messageCount - 1) * 1_000_000_000n);
    const grownMB = (peakBytes - beforeBytes) / MB;
    t.diagnostic(`the control plane grew by ${Math.round(grownMB)} MB`);
    assert.ok(grownMB < 400, `it grew by ${grownMB} MB`);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "./inspect/inspect.ts";
import { bytesSource, countReads } from "./sources/source.ts";
import { hostileFiles } from "./testing/hostile.ts";

for (const { name, code, damage, make } of hostileFiles)
  test(`${name}: ${code}`, async () => {
    const source = countReads(bytesSource(make()));
    const inspection = await inspectRecording(source, { fileName: "hostile.mcap", verifyChunks: true });
    assert.equal("reason" in inspection ? inspection.reason.code : inspection.state, code);
    if ("reason" in inspection) assert.ok(inspection.reason.text.length > 20);
    else if (damage) assert.ok(inspection.summary.damage?.reasons.some((reason) => reason.code === damage));
    assert.ok(source.bytesRead <= 3 * source.sizeBytes + 64 * 1024, `${source.bytesRead} of ${source.sizeBytes}`);
  });

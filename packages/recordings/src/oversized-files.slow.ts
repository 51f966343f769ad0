import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { leanLimits } from "./faults/limits.ts";
import { inspectRecording } from "./inspect/inspect.ts";
import { FileSource } from "./sources/file-source.ts";
import { oversizedFiles, writeOversized } from "./testing/oversized.ts";

for (const file of oversizedFiles)
  test(`${file.fileName}: ${file.state}${file.isPartial ? ", not listed whole" : ""}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "downlink-oversized-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, file.fileName);
    writeOversized(path, file);
    await using source = await FileSource.open(path);
    const found = await inspectRecording(source, { fileName: path, limits: leanLimits, salvage: true });
    assert.equal(found.state, file.state);
    const leftOut = "summary" in found ? found.summary.leftOut : undefined;
    assert.equal(leftOut !== undefined, file.isPartial ?? false);
  });

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { eventually, makeBag, makeMcap } from "@downlink/recordings/testing";
import { assertExportedExactly } from "../processes/compare-export.ts";
import { type Scenario, sha256Of } from "../processes/scenario.ts";

const MINUTE_NS = 60_000_000_000n;
const START_NS = 1_760_000_000_000_000_000n;
const at = (minute: number) => ({ startNs: START_NS + BigInt(minute) * MINUTE_NS, durationSeconds: 3 });

/** Recordings of every format are found, reported, requested, stored byte for byte and exported exactly. */
export async function goTheWholeWay(scenario: Scenario): Promise<void> {
  const files: Record<string, Uint8Array> = {
    "zstd.mcap": await makeMcap({ ...at(0), compression: "zstd" }),
    "deep/down/lz4.mcap": await makeMcap({ ...at(1), compression: "lz4" }),
    "none.mcap": await makeMcap({ ...at(2), compression: "" }),
    "no-index.mcap": await makeMcap({ ...at(3), isIndexed: false }),
    "no-chunks.mcap": await makeMcap({ ...at(4), isChunked: false }),
    "Überfahrt 1 #2.mcap": await makeMcap(at(5)),
    "lz4.bag": await makeBag({ ...at(6), compression: "lz4" }),
    "none-unsorted.bag": await makeBag({ ...at(7), compression: "none", isReversed: true }),
  };
  await mkdir(join(scenario.storageRoot, "deep/down"), { recursive: true });
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(scenario.storageRoot, path), bytes);
  scenario.startAgent();

  const found = await eventually(scenario.recordings, (all) => all.length === Object.keys(files).length);
  assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(files).sort());
  for (const { id } of found) await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
  const imported = await eventually(scenario.recordings, (all) =>
    all.every(({ importStatus }) => importStatus === "complete"),
  );

  const stored = new Set((await scenario.storedObjects()).map(({ sha256 }) => sha256));
  for (const recording of imported) {
    const path = join(scenario.storageRoot, recording.path);
    assert.ok(stored.has(await sha256Of(path)), `${recording.path} is stored byte for byte`);
    await assertExportedExactly(scenario, recording);
  }
}

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { makeBag, makeMcap } from "@downlink/recordings/testing";
import { assertExportedExactly } from "./processes/compare-export.ts";
import { eventually } from "./processes/eventually.ts";
import { sha256Of, startScenario } from "./processes/scenario.ts";

const MINUTE_NS = 60_000_000_000n;
const START_NS = 1_760_000_000_000_000_000n;
const at = (minute: number) => ({ startNs: START_NS + BigInt(minute) * MINUTE_NS, durationSeconds: 3 });

test("recordings of every format go the whole way: found, reported, asked for, stored byte for byte, exported", async (t) => {
  const scenario = await startScenario(t);
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
});

test("files that are no recording are listed with the reason, or left alone, and hold nothing up", async (t) => {
  const scenario = await startScenario(t);
  const whole = await makeMcap(at(0));
  const files: Record<string, Uint8Array | string> = {
    "cut.mcap": whole.slice(0, -5000),
    "zero.mcap": "",
    "text.mcap": "this is no recording",
    "no-messages.mcap": await makeMcap({ topics: [] }),
    "notes.txt": "not a recording, and not called one",
    "recording.db3": "SQLite format 3",
    "being-written.bag.active": await makeBag({ isFinished: false }),
    "good.mcap": whole,
  };
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(scenario.storageRoot, path), bytes);
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 1);

  const listed = await eventually(
    () => scenario.cloud().admin.call(api.edgeFiles.list, {}),
    (all) => all.length === 4 && all.every(({ state }) => state !== "settling"),
  );
  const states = Object.fromEntries(listed.map(({ path, state }) => [path, state]));
  assert.equal(states["cut.mcap"], "incomplete");
  assert.equal(states["no-messages.mcap"], "empty");
  assert.ok(["damaged", "incomplete"].includes(states["text.mcap"]!));
  assert.ok(["damaged", "incomplete", "empty"].includes(states["zero.mcap"]!));
  for (const { path, state, reason } of listed)
    assert.ok(state === "empty" || (reason?.code && reason.text.length > 10), path);
});

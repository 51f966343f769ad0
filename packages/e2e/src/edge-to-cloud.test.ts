import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { makeBag, makeMcap } from "@downlink/recordings/testing";
import { eventually } from "./processes/eventually.ts";
import { startScenario } from "./processes/scenario.ts";
import { goTheWholeWay } from "./scenarios/whole-way.ts";

const MINUTE_NS = 60_000_000_000n;
const START_NS = 1_760_000_000_000_000_000n;
const at = (minute: number) => ({ startNs: START_NS + BigInt(minute) * MINUTE_NS, durationSeconds: 3 });

test("recordings of every format go the whole way: found, reported, requested, stored byte for byte, exported", async (t) => {
  await goTheWholeWay(await startScenario(t));
});

test("files that are no recording are listed with the reason, or are ignored, and hold nothing up", async (t) => {
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

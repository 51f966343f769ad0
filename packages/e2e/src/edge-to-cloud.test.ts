import assert from "node:assert/strict";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeBag, makeMcap, slowTest } from "@downlink/recordings/testing";
import { startScenario } from "./processes/scenario.ts";
import { goTheWholeWay } from "./scenarios/whole-way.ts";

const MINUTE_NS = 60_000_000_000n;
const START_NS = 1_760_000_000_000_000_000n;
const at = (minute: number) => ({ startNs: START_NS + BigInt(minute) * MINUTE_NS, durationSeconds: 3 });

test("recordings of every format go the whole way: found, reported, requested, stored byte for byte, exported", async (t) => {
  await goTheWholeWay(await startScenario(t));
});

slowTest("files that are no recording are listed with the reason, or are ignored, and hold nothing up", async (t) => {
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
    "crashed.bag.active": await makeBag({ ...at(1), isFinished: false }),
    "good.mcap": whole,
  };
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(scenario.storageRoot, path), bytes);
  await utimes(join(scenario.storageRoot, "crashed.bag.active"), 0, Date.now() / 1000 - 7200);
  scenario.startAgent();
  await eventually(scenario.recordings, (all) => all.length === 1);

  const listed = await eventually(
    () => scenario.cloud().admin.call(api.edgeFiles.list, {}),
    (all) => all.length === 5 && all.every(({ state }) => state !== "settling"),
  );
  const states = Object.fromEntries(listed.map(({ path, state }) => [path, state]));
  assert.equal(states["cut.mcap"], "incomplete");
  assert.equal(states["no-messages.mcap"], "empty");
  assert.equal(states["crashed.bag.active"], "incomplete");
  assert.ok(["damaged", "incomplete"].includes(states["text.mcap"]!));
  assert.ok(["damaged", "incomplete", "empty"].includes(states["zero.mcap"]!));
  for (const { path, state, reason } of listed)
    assert.ok(state === "empty" || (reason?.code && reason.text.length > 10), path);
  const crashed = listed.find(({ path }) => path === "crashed.bag.active")!;
  await scenario.cloud().admin.call(api.edgeFiles.salvage, { id: crashed.id });
  await eventually(scenario.recordings, (all) => all.some(({ path }) => path.endsWith("/crashed.mcap")));
});

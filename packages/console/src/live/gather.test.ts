import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherChanges } from "./gather.ts";

const change = (kind: "recording" | "event") => ({ changes: [{ kind, id: "1", projectId: "p" }], isMissed: false });

function start() {
  const state = { nowMs: 0, isHidden: false };
  const renewed: (readonly string[])[] = [];
  const scheduled: { run: () => void; ms: number }[] = [];
  const gathered = gatherChanges({
    renew: (paths) => void renewed.push(paths),
    isHidden: () => state.isHidden,
    nowMs: () => state.nowMs,
    schedule: (run, ms) => void scheduled.push({ run, ms }),
  });
  const pass = () => {
    const due = scheduled.splice(0);
    for (const { run, ms } of due) {
      state.nowMs += ms;
      run();
    }
    return due.length;
  };
  return { ...gathered, state, renewed, pass };
}

test("the first change is renewed at once, and those of the next five seconds together after them", () => {
  const { heed, renewed, pass, state } = start();
  heed(change("event"));
  pass();
  assert.deepEqual([state.nowMs, renewed], [0, [["/v1/events"]]]);
  for (let at = 0; at < 100; at++) heed(change("event"));
  heed(change("recording"));
  assert.equal(pass(), 1);
  assert.equal(state.nowMs, 5000);
  assert.equal(renewed.length, 2);
  assert.ok(renewed[1]!.includes("/v1/events") && renewed[1]!.includes("/v1/recordings"));
});

test("a page that nobody looks at asks for nothing, and for all of it when it is looked at", () => {
  const { heed, look, renewed, pass, state } = start();
  state.isHidden = true;
  heed(change("event"));
  pass();
  assert.deepEqual(renewed, []);
  state.isHidden = false;
  look();
  pass();
  assert.deepEqual(renewed, [["/v1/events"]]);
});

test("who has missed changes asks for everything, and who hears of nothing for nothing", () => {
  const { heed, renewed, pass } = start();
  heed({ changes: [], isMissed: false });
  assert.equal(pass(), 0);
  heed({ changes: [], isMissed: true });
  pass();
  assert.ok(["/v1/recordings", "/v1/devices", "/v1/datasets"].every((path) => renewed[0]!.includes(path)));
});

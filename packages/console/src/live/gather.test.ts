import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gatherChanges } from "./gather.ts";

const change = (kind: "recording" | "event") => ({ changes: [{ kind, id: "1", projectId: "p" }], isMissed: false });

function start() {
  const state = { nowMs: 0, isHidden: false, renewMs: 0, fails: "" };
  const renewed: (readonly string[])[] = [];
  const scheduled: { run: () => void; ms: number }[] = [];
  const gathered = gatherChanges({
    renew: async (paths) => {
      renewed.push(paths);
      state.nowMs += state.renewMs;
      if (state.fails) throw new Error(state.fails);
    },
    retryMs: (error, failures) => ((error as Error).message === "away" ? 2000 * failures : undefined),
    isHidden: () => state.isHidden,
    nowMs: () => state.nowMs,
    schedule: (run, ms) => void scheduled.push({ run, ms }),
  });
  const pass = async () => {
    const due = scheduled.splice(0);
    for (const { run, ms } of due) {
      state.nowMs += ms;
      run();
    }
    await setImmediate();
    return due.length;
  };
  return { ...gathered, state, renewed, pass };
}

test("a change is renewed at once, and those of the next five seconds together after them", async () => {
  const { heed, renewed, pass, state } = start();
  state.nowMs = 60_000;
  heed(change("event"));
  await pass();
  assert.deepEqual([state.nowMs, renewed], [60_000, [["/v1/events"]]]);
  for (let at = 0; at < 100; at++) heed(change("event"));
  heed(change("recording"));
  assert.equal(await pass(), 1);
  assert.equal(state.nowMs, 65_000);
  assert.equal(renewed.length, 2);
  assert.ok(renewed[1]!.includes("/v1/events") && renewed[1]!.includes("/v1/recordings"));
});

test("what the page shows first is asked for at its start, and no sooner again than five seconds later", async () => {
  const { heed, pass, state } = start();
  heed(change("event"));
  await pass();
  assert.equal(state.nowMs, 5000);
});

test("what the service takes long to answer is asked for more rarely", async () => {
  const { heed, renewed, pass, state } = start();
  state.nowMs = 60_000;
  state.renewMs = 500;
  heed(change("recording"));
  await pass();
  heed(change("recording"));
  await pass();
  assert.deepEqual([renewed.length, state.nowMs], [2, 60_500 + 19 * 500 + 500]);
});

test("however slow the service was, what is new is shown within half a minute", async () => {
  const { heed, renewed, pass, state } = start();
  state.nowMs = 60_000;
  state.renewMs = 20_000;
  heed(change("recording"));
  await pass();
  heed(change("recording"));
  await pass();
  assert.deepEqual([renewed.length, state.nowMs], [2, 80_000 + 30_000 + 20_000]);
});

test("what could not be had while the service was away is asked for again, soon, and together with what came meanwhile", async () => {
  const { heed, renewed, pass, state } = start();
  Object.assign(state, { nowMs: 60_000, renewMs: 9000, fails: "away" });
  heed(change("event"));
  await pass();
  Object.assign(state, { renewMs: 100, fails: "" });
  heed(change("recording"));
  await pass();
  assert.equal(state.nowMs, 69_000 + 2000 + 100);
  assert.ok(renewed[1]!.includes("/v1/events") && renewed[1]!.includes("/v1/recordings"));
  assert.equal(await pass(), 0, "once it is had it is not asked for again");
});

test("what is refused for good is not asked for again before something else happens", async () => {
  const { heed, pass, state } = start();
  state.fails = "not there";
  heed(change("event"));
  await pass();
  assert.equal(await pass(), 0);
});

test("a refusal for good lengthens no later wait for the service", async () => {
  const { heed, pass, state } = start();
  Object.assign(state, { nowMs: 60_000, fails: "not there" });
  heed(change("event"));
  await pass();
  Object.assign(state, { renewMs: 9000, fails: "away" });
  heed(change("event"));
  await pass();
  const failedMs = state.nowMs;
  Object.assign(state, { renewMs: 0, fails: "" });
  await pass();
  assert.equal(state.nowMs, failedMs + 2000, "it is the first failure in a row");
});

test("a page that nobody looks at asks for nothing, and for all of it when it is looked at", async () => {
  const { heed, look, renewed, pass, state } = start();
  state.isHidden = true;
  heed(change("event"));
  await pass();
  assert.deepEqual(renewed, []);
  state.isHidden = false;
  look();
  await pass();
  assert.deepEqual(renewed, [["/v1/events"]]);
});

test("who has missed changes asks for everything, and who hears of nothing for nothing", async () => {
  const { heed, renewed, pass } = start();
  heed({ changes: [], isMissed: false });
  assert.equal(await pass(), 0);
  heed({ changes: [], isMissed: true });
  await pass();
  assert.ok(["/v1/recordings", "/v1/devices", "/v1/datasets"].every((path) => renewed[0]!.includes(path)));
});

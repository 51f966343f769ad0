import assert from "node:assert/strict";
import { test } from "node:test";
import { createProblemBoard } from "../diagnostics/problems.ts";
import { createClockSkew, watchServerDate } from "./clock-skew.ts";

const START_MS = Date.parse("2026-01-02T03:04:05Z");

/** Makes a device whose clock is off, and a server whose clock is right. */
function makeClocks(offMs: number) {
  const at = { passedMs: 0, offMs };
  const clock = {
    uptimeMs: () => 1000 + at.passedMs,
    nowNs: () => BigInt(START_MS + at.passedMs + at.offMs) * 1_000_000n,
    monotonicMs: () => at.passedMs,
    random: Math.random,
  };
  const problems = createProblemBoard(clock);
  const skew = createClockSkew({ clock, problems });
  const serverMs = () => START_MS + at.passedMs;
  /** Makes an answer that the server wrote at once and that arrived late. */
  const answerAfter = (ms: number) => {
    const sample = { serverMs: serverMs(), precisionMs: 0, sentUptimeMs: clock.uptimeMs() };
    at.passedMs += ms;
    skew.note(sample);
  };
  return { at, clock, problems, skew, serverMs, answerAfter, codes: () => problems.list().map(({ code }) => code) };
}

test("a clock that is off by more than a minute is a problem, which ends as soon as it is set, without another call", () => {
  const { at, skew, problems, codes, answerAfter } = makeClocks(-20_000 * 86_400_000);
  answerAfter(20);
  assert.deepEqual(codes(), ["ClockSkewed"]);
  assert.equal(problems.list()[0]?.detail, "this device's clock is 20000 d behind the control plane's");
  at.offMs = 0;
  skew.judge();
  assert.deepEqual([codes(), Math.abs(skew.currentMs()!) < 100], [[], true]);
  at.offMs = 3_600_000;
  skew.judge();
  assert.match(problems.list()[0]!.detail, /60 min ahead of/);
});

test("an answer that was long on its way neither makes a problem nor hides one", () => {
  const right = makeClocks(0);
  right.answerAfter(5 * 60_000);
  assert.deepEqual(right.codes(), []);
  right.answerAfter(10);
  right.answerAfter(5 * 60_000);
  assert.ok(Math.abs(right.skew.currentMs()!) <= 10, "a slow answer does not replace what a quick one showed");
  const wrong = makeClocks(120_000);
  wrong.answerAfter(10);
  wrong.answerAfter(10 * 60_000);
  assert.deepEqual(wrong.codes(), ["ClockSkewed"]);
});

test("a server whose clock was set is believed with its next answer", () => {
  const { at, skew, codes, answerAfter } = makeClocks(0);
  answerAfter(10);
  skew.note({ serverMs: START_MS + at.passedMs + 86_400_000, precisionMs: 1000, sentUptimeMs: 1000 + at.passedMs });
  assert.deepEqual(codes(), ["ClockSkewed"]);
  answerAfter(10);
  assert.deepEqual(codes(), []);
});

test("every answer in JSON gives the time in its header; a portal's page does not", async () => {
  const { clock, skew, serverMs } = makeClocks(7000);
  let type = "text/html";
  const date = () => new Date(serverMs()).toUTCString();
  const transport = watchServerDate(
    async () => ({ status: 200, body: "", headers: new Map(Object.entries({ date: date(), "content-type": type })) }),
    { clock, skew },
  );
  const request = { method: "GET", url: "http://x", headers: {}, signal: new AbortController().signal };
  await transport(request);
  assert.equal(skew.currentMs(), undefined);
  type = "application/json";
  await transport(request);
  assert.ok(Math.abs(skew.currentMs()! + 7000) <= 500);
});

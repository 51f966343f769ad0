import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairTurns, type TurnLimits } from "./fair-turns.ts";

const HOUR_MS = 3_600_000;
const limits: TurnLimits = { atOnce: 2, perOwner: 2, waiting: 100, waitMs: HOUR_MS };
const never = () => new AbortController().signal;

test("owners are served by turns, however many of one wait, and so are the tokens of one owner", async () => {
  const turns = new FairTurns("tasks", { ...limits, atOnce: 1 });
  const log = createLog(turns);
  log.ask("a", "1");
  for (let count = 0; count < 3; count++) log.ask("a", "1");
  log.ask("b", "1");
  log.ask("a", "2");
  log.ask("b", "1");
  await log.finishAll();
  assert.deepEqual(log.order, ["a1", "a1", "b1", "a2", "b1", "a1", "a1"]);
});

test("an owner at its own limit leaves the rest to others", async () => {
  const turns = new FairTurns("tasks", { ...limits, atOnce: 3, perOwner: 2, perToken: 1 });
  const log = createLog(turns);
  for (const [owner, token] of ["a1", "a1", "a2", "a3", "b1"].map((text) => [...text])) log.ask(owner!, token!);
  await settle();
  assert.deepEqual(log.order, ["a1", "a2", "b1"]);
  await log.finishAll();
  assert.equal(log.order.length, 5);
});

test("an owner that is alone has all turns that nobody else wants, until another one asks, and again once nobody has asked for a second", async () => {
  const clock = { nowMs: 5000 };
  const turns = new FairTurns("tasks", { ...limits, atOnce: 100, perOwner: 2, alone: 50 }, () => clock.nowMs);
  const log = createLog(turns);
  for (let count = 0; count < 60; count++) log.ask("a", "1");
  await settle();
  assert.deepEqual([log.running.length, log.waiting.length], [50, 10]);
  log.ask("b", "1");
  await settle();
  assert.equal(log.running.at(-1)!.who, "b1", "it is let in at once");
  for (let count = 0; count < 49; count++) log.finishOne();
  await settle();
  assert.deepEqual(log.running.map(({ who }) => who).sort(), ["a1", "a1", "b1"]);
  clock.nowMs += 1001;
  for (const { turn, who } of log.running.splice(0)) {
    turn[Symbol.dispose]();
    assert.match(who, /^[ab]1$/);
  }
  await settle();
  assert.deepEqual([log.running.length, log.waiting.length], [9, 0]);
  await log.finishAll();
});

test("a caller that comes after its owner has become alone begins after those that wait already", async (t) => {
  const clock = { nowMs: 5000 };
  const turns = new FairTurns("tasks", { ...limits, atOnce: 100, perOwner: 1, alone: 2 }, () => clock.nowMs);
  const begun: string[] = [];
  const gone = new AbortController();
  t.after(() => gone.abort());
  const ask = (name: string) =>
    void turns
      .take({ owner: "a" }, () => gone.signal)
      .then(
        () => begun.push(name),
        () => {},
      );
  const other = await turns.take({ owner: "b" }, never);
  for (const name of ["first", "second"]) ask(name);
  other[Symbol.dispose]();
  await settle();
  assert.deepEqual(begun, ["first"]);
  clock.nowMs += 1001;
  ask("third");
  await settle();
  assert.deepEqual(begun, ["first", "second"]);
});

test("if an owner is alone, several tokens of it keep their shares", async () => {
  const log = createLog(new FairTurns("tasks", { ...limits, atOnce: 100, perOwner: 3, perToken: 2, alone: 50 }));
  for (const token of ["1", "2", "1", "1", "2", "2"]) log.ask("a", token);
  await settle();
  assert.deepEqual(log.order, ["a1", "a2", "a1"]);
  await log.finishAll();
});

test("a caller beyond the longest line, and one that waits too long, is refused with the time to wait", async () => {
  const turns = new FairTurns("tasks", { ...limits, atOnce: 1, waiting: 1, waitMs: 20 });
  const held = await turns.take({ owner: "a" }, never);
  const late = turns.take({ owner: "a" }, never);
  const busy = { code: "Unavailable", retryAfterSeconds: 5 };
  await assert.rejects(turns.take({ owner: "a" }, never), busy);
  await assert.rejects(late, busy);
  held[Symbol.dispose]();
  (await turns.take({ owner: "a" }, never))[Symbol.dispose]();
});

test("a caller that goes away while it waits takes no turn", async () => {
  const turns = new FairTurns("tasks", { ...limits, atOnce: 1 });
  const held = await turns.take({ owner: "a" }, never);
  const gone = new AbortController();
  const waiting = turns.take({ owner: "b" }, () => gone.signal);
  gone.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  held[Symbol.dispose]();
  (await turns.take({ owner: "c" }, never))[Symbol.dispose]();
});

test("in whatever order turns are asked for and ended, no limit is exceeded and nobody waits without need", async () => {
  const step = fc.record({
    owner: fc.constantFrom("a", "b", "c"),
    token: fc.constantFrom("1", "2"),
    ends: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const bounds = { ...limits, atOnce: 4, perOwner: 3, perToken: 2 };
      const log = createLog(new FairTurns("tasks", bounds));
      for (const { owner, token, ends } of steps) {
        if (ends) log.finishOne();
        else log.ask(owner, token);
        await settle();
        assertBounded(log, bounds);
      }
      await log.finishAll();
      assert.equal(log.order.length, steps.filter(({ ends }) => !ends).length);
    }),
    { numRuns: 200 },
  );
});

function assertBounded(
  { running, waiting }: ReturnType<typeof createLog>,
  bounds: TurnLimits & { readonly perToken: number },
): void {
  const mayGo = (who: string) =>
    running.length < bounds.atOnce &&
    running.filter(({ who: other }) => other[0] === who[0]).length < bounds.perOwner &&
    running.filter(({ who: other }) => other === who).length < bounds.perToken;
  assert(running.length <= bounds.atOnce);
  assert(!waiting.some(mayGo), `${waiting} could go beside ${running.map(({ who }) => who)}`);
}

/** Records who got a turn, in order. */
function createLog(turns: FairTurns) {
  const order: string[] = [];
  const waiting: string[] = [];
  const running: { who: string; turn: Disposable }[] = [];
  const ask = (owner: string, token: string) => {
    const who = owner + token;
    waiting.push(who);
    void turns.take({ owner, token }, never).then((turn) => {
      waiting.splice(waiting.indexOf(who), 1);
      order.push(who);
      running.push({ who, turn });
    });
  };
  const finishOne = () => running.shift()?.turn[Symbol.dispose]();
  const finishAll = async () => {
    for (await settle(); running.length > 0; await settle()) finishOne();
  };
  return { order, waiting, running, ask, finishOne, finishAll };
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

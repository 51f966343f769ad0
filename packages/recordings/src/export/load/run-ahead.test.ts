import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runAhead, type Task } from "./run-ahead.ts";

interface Started extends Task<number> {
  finish(): void;
  fail(error: Error): void;
}

/** Tasks that end when the test ends them, and a list of those that were started. */
function makeTasks(weights: readonly number[]) {
  const started: number[] = [];
  const tasks = weights.map((weightBytes, index): Started => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    return {
      weightBytes,
      run() {
        started.push(index);
        return promise;
      },
      finish: () => resolve(index),
      fail: reject,
    };
  });
  async function* feed(): AsyncGenerator<Task<number>> {
    yield* tasks;
  }
  return { tasks, started, feed };
}

test("results come in order, and no more is started than fits", async () => {
  const { tasks, started, feed } = makeTasks([4, 4, 4, 4]);
  const results = runAhead(feed(), () => ({ mostBytes: 8, mostTasks: 10 }));
  const first = results.next();
  await setImmediate();
  assert.deepEqual(started, [0, 1]);
  tasks[1]!.finish();
  tasks[0]!.finish();
  assert.equal((await first).value, 0);
  assert.equal((await results.next()).value, 1);
  for (const task of tasks) task.finish();
  assert.deepEqual(await Array.fromAsync(results), [2, 3]);
});

test("a task that is too heavy runs alone, and the number of tasks is limited", async () => {
  const heavy = makeTasks([100, 100]);
  for (const task of heavy.tasks) task.finish();
  assert.deepEqual(await Array.fromAsync(runAhead(heavy.feed(), () => ({ mostBytes: 8, mostTasks: 10 }))), [0, 1]);
  const light = makeTasks([0, 0, 0, 0]);
  const results = runAhead(light.feed(), () => ({ mostBytes: 8, mostTasks: 2 }));
  light.tasks[0]!.finish();
  await results.next();
  assert.ok(light.started.length <= 3);
});

test("a failure is thrown in its turn, and ends the feed", async () => {
  const { tasks, feed } = makeTasks([1, 1, 1]);
  let isClosed = false;
  async function* closing(): AsyncGenerator<Task<number>> {
    try {
      yield* feed();
    } finally {
      isClosed = true;
    }
  }
  const results = runAhead(closing(), () => ({ mostBytes: 8, mostTasks: 2 }));
  tasks[1]!.fail(new Error("broken"));
  tasks[0]!.finish();
  assert.equal((await results.next()).value, 0);
  await assert.rejects(results.next(), /broken/);
  assert.ok(isClosed);
});

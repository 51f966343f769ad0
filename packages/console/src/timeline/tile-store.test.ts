import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { TileStore } from "./tile-store.ts";
import { nameOf, parentOf, type TileKey } from "./tiles.ts";

const keyAt = (index: number, level = 30): TileKey => ({ level, index, block: 0 });

/** Makes a store whose calls are answered by the test. */
function start() {
  const calls = new Map<string, { resolve(tile: string): void; reject(error: unknown): void; signal: AbortSignal }>();
  const asked: string[] = [];
  const clock = { nowMs: 0 };
  const store = new TileStore<string>({
    load: (key, signal) => {
      asked.push(nameOf(key));
      return new Promise((resolve, reject) => calls.set(nameOf(key), { resolve, reject, signal }));
    },
    onChange: () => undefined,
    retryAfterMs: (error) => (error instanceof RangeError ? 5000 : undefined),
    nowMs: () => clock.nowMs,
  });
  const answer = async (key: TileKey, tile: string | Error) => {
    const call = calls.get(nameOf(key))!;
    if (typeof tile === "string") call.resolve(tile);
    else call.reject(tile);
    await setImmediate();
  };
  return { store, asked, answer, calls, clock };
}

test("four tiles are asked for at once, the first of those that are wanted first, and each once", async () => {
  const { store, asked, answer } = start();
  const keys = Array.from({ length: 6 }, (_, index) => keyAt(index));
  store.want(keys);
  store.want(keys);
  assert.deepEqual(asked, keys.slice(0, 4).map(nameOf));
  await answer(keys[2]!, "third");
  assert.deepEqual(asked, keys.slice(0, 5).map(nameOf));
  assert.equal(store.get(keys[2]!), "third");
  store.want(keys);
  assert.equal(asked.length, 5);
});

test("what is not looked at any more is given up, and its late answer is not taken", async () => {
  const { store, answer, calls } = start();
  store.want([keyAt(1)]);
  store.want([keyAt(2)]);
  assert.ok(calls.get(nameOf(keyAt(1)))!.signal.aborted);
  await answer(keyAt(1), "late");
  assert.equal(store.get(keyAt(1)), undefined);
  await answer(keyAt(2), "wanted");
  assert.equal(store.get(keyAt(2)), "wanted");
  assert.ok(!store.isLoading);
});

test("until a tile is here the nearest wider one stands for it, else narrower ones, and never another time", async () => {
  const { store, answer } = start();
  const key = keyAt(5);
  const [parent, child] = [parentOf(parentOf(key)!)!, keyAt(11, 29)];
  store.want([child]);
  await answer(child, "child");
  assert.deepEqual(store.best(key), [{ key: child, tile: "child" }]);
  store.want([parent]);
  await answer(parent, "wide");
  assert.deepEqual(store.best(key), [{ key: parent, tile: "wide" }]);
  assert.deepEqual(store.best(keyAt(50)), []);
});

test("a tile that failed is named, waits longer each time or as long as the service says, and can be asked for at once", async () => {
  const { store, asked, answer, clock } = start();
  store.want([keyAt(1)]);
  await answer(keyAt(1), new Error("away"));
  assert.match(String(store.failure), /away/);
  store.want([keyAt(1)]);
  assert.equal(asked.length, 1);
  clock.nowMs = 1000;
  store.want([keyAt(1)]);
  assert.equal(asked.length, 2);
  await answer(keyAt(1), new RangeError("busy"));
  clock.nowMs = 5999;
  store.want([keyAt(1)]);
  assert.equal(asked.length, 2);
  store.again();
  assert.equal(asked.length, 3);
  await answer(keyAt(1), "here");
  assert.equal(store.failure, undefined);
});

test("what is asked for again stays in sight until its answer is here", async () => {
  const { store, asked, answer } = start();
  store.want([keyAt(1), keyAt(2)]);
  await answer(keyAt(1), "old");
  await answer(keyAt(2), "old");
  store.refresh(1);
  assert.equal(asked.length, 3);
  assert.equal(store.get(keyAt(1)), "old");
  await answer(keyAt(1), "new");
  assert.equal(store.get(keyAt(1)), "new");
  store.refresh();
  assert.equal(asked.length, 5);
});

test("of tiles that were looked at long ago only some hundreds are kept", async () => {
  const { store, answer } = start();
  for (let index = 0; index < 450; index++) {
    store.want([keyAt(index)]);
    await answer(keyAt(index), "here");
  }
  store.want([keyAt(449)]);
  assert.equal(store.get(keyAt(0)), undefined);
  assert.equal(store.get(keyAt(449)), "here");
});

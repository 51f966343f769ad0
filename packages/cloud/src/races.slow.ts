import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type NamedOperation, operationsOn, runOperation } from "./testing/races/run-operation.ts";
import { type Scene, scenes } from "./testing/races/scenes.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
/** How often each of the two is called: more than once, because two calls of one operation can conflict too. */
const COPIES = 2;

for (const [name, set] of Object.entries(scenes)) {
  const whole = await set(cloud);
  for (const one of operationsOn(whole))
    test(`${name}: ${one.called} at the same moment as each other operation is never answered 5xx`, async () => {
      const partners = partnersOf(one, operationsOn(whole));
      const failures: object[] = [];
      let scene = await set(cloud);
      for (const other of partners) {
        failures.push(...(await meet(scene, [one, other])).map((failure) => ({ ...failure, met: other.called })));
        if (isEnding(one) || isEnding(other)) scene = await set(cloud);
      }
      assert.deepEqual(failures, []);
    });
}

async function meet(scene: Scene, pair: readonly NamedOperation[]) {
  const calls = Array.from({ length: COPIES }, () => pair).flat();
  const outcomes = await Promise.all(calls.map((call) => runOperation(cloud, scene, call)));
  return outcomes.filter(({ status }) => status >= 500);
}

/** Returns each pair once; two operations that only read never conflict. */
function partnersOf(one: NamedOperation, all: readonly NamedOperation[]): NamedOperation[] {
  const later = all.slice(all.findIndex(({ called }) => called === one.called));
  return later.filter((other) => writes(one) || writes(other));
}

function writes({ operation }: NamedOperation): boolean {
  return operation.method !== "get";
}

function isEnding({ operation }: NamedOperation): boolean {
  return operation.method === "delete";
}

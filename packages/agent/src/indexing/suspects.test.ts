import assert from "node:assert/strict";
import { test } from "node:test";
import type { Suspects } from "../state/known-facts.ts";
import { blame, type Moment, type Note, standingOf } from "./suspects.ts";

const HOUR_MS = 3_600_000;
const none: Suspects = { byKey: {} };
const at = (hours: number, changes: Partial<Moment> = {}): Moment => ({
  nowNs: BigInt(hours * HOUR_MS) * 1_000_000n,
  uptimeMs: hours * HOUR_MS,
  runningMs: 0,
  bootId: "boot-1",
  ...changes,
});
let count = 0;
const note = (...keys: string[]): Note => ({ id: `note-${++count}`, bootId: "boot-1", keys });

function standing(suspects: Suspects, key: string, moment: Moment) {
  return standingOf(suspects.byKey[key], moment);
}

test("a file at which the agent died once comes last, one at which it died twice is set aside for a day, and tried again then", () => {
  const once = blame(none, note("a", "b"), at(0));
  assert.deepEqual(
    [standing(once, "a", at(0)), standing(once, "b", at(0)), standing(once, "c", at(0))],
    ["suspect", "suspect", "clear"],
  );
  const twice = blame(once, note("a"), at(1));
  assert.deepEqual([standing(twice, "a", at(24.9)), standing(twice, "a", at(25))], ["setAside", "suspect"]);
  const again = blame(twice, note("a"), at(25));
  assert.deepEqual([standing(again, "a", at(48)), standing(again, "a", at(49))], ["setAside", "suspect"]);
});

test("of several files that were examined at once the one is at fault that was suspected before", () => {
  const once = blame(none, note("poison"), at(0));
  const twice = blame(once, note("innocent", "poison", "other"), at(0));
  assert.deepEqual(Object.keys(twice.byKey), ["poison"]);
  assert.equal(standing(twice, "poison", at(1)), "setAside");
});

test("a cut, which may take minutes, is given up at the fifth death only", () => {
  let suspects = none;
  for (let death = 1; death <= 5; death += 1) {
    suspects = blame(suspects, note("cut"), at(death));
    assert.equal(standingOf(suspects.byKey.cut, at(death), "long"), death < 5 ? "suspect" : "setAside");
  }
});

test("power cuts set no file aside before the fifth, and then for a day only", () => {
  let suspects = none;
  for (let cut = 1; cut <= 5; cut += 1) {
    const moment = at(cut, { bootId: `boot-${cut + 1}` });
    suspects = blame(suspects, note("long"), moment);
    assert.equal(standing(suspects, "long", moment), cut < 5 ? "suspect" : "setAside", `${cut}`);
  }
  assert.equal(standing(suspects, "long", at(30, { bootId: "boot-6" })), "suspect");
});

test("a clock that is set makes nothing due that is not: the machine's uptime counts first", () => {
  const suspects = blame(blame(none, note("a"), at(1)), note("a"), at(1));
  const decadesLater = 50 * 365 * 24;
  assert.equal(standing(suspects, "a", at(2, { nowNs: at(decadesLater).nowNs })), "setAside");
  const another = { bootId: "boot-2", uptimeMs: 0 };
  assert.equal(standing(suspects, "a", at(-decadesLater, another)), "setAside");
  assert.equal(standing(suspects, "a", at(-decadesLater, { ...another, runningMs: 24 * HOUR_MS })), "suspect");
});

test("the list of suspects stays short, whatever happens", () => {
  let suspects = none;
  for (let death = 0; death < 300; death += 1)
    suspects = blame(suspects, note(...[1, 2, 3, 4].map((n) => `${death}-${n}`)), at(0));
  const keys = Object.keys(suspects.byKey);
  assert.deepEqual([keys.length, keys.at(-1)], [500, "299-4"]);
});

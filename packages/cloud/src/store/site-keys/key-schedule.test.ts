import assert from "node:assert/strict";
import { test } from "node:test";
import { endedKeys, isKeyDue, signingKey } from "./key-schedule.ts";

const HOUR = 3600n * 1_000_000_000n;
const DAY = 24n * HOUR;
const first = { id: "first", createdAtNs: 0n, savedAtNs: HOUR };
const next = { id: "next", createdAtNs: 29n * DAY, savedAtNs: 29n * DAY };

test("the only key signs as soon as the site has kept it, and not before", () => {
  assert.equal(signingKey([{ ...first, savedAtNs: null }], 5n * DAY), undefined);
  assert.equal(signingKey([first], HOUR), first);
});

test("the next key is made a day before the former one is thirty days old, and signs a day after the site kept it", () => {
  assert.equal(isKeyDue([], 0n), true);
  assert.equal(isKeyDue([first], 29n * DAY - 1n), false);
  assert.equal(isKeyDue([first], 29n * DAY), true);
  assert.equal(signingKey([first, next], 30n * DAY - 1n), first);
  assert.equal(signingKey([first, next], 30n * DAY), next);
});

test("a site that was away while a key was made keeps the former one in use until it has the next", () => {
  const unsaved = { ...next, savedAtNs: null };
  assert.equal(signingKey([first, unsaved], 90n * DAY), first);
  assert.deepEqual(endedKeys([first, unsaved], 90n * DAY), []);
});

test("a key is accepted until the last link that it signed has ended, and a day longer for bodies that began", () => {
  assert.deepEqual(endedKeys([first, next], 32n * DAY - 1n), []);
  assert.deepEqual(endedKeys([first, next], 32n * DAY), [first]);
});

test("at every hour of half a year there is one key to sign with, and it is accepted for two more days", () => {
  let keys: { id: string; createdAtNs: bigint; savedAtNs: bigint | null }[] = [];
  const signed: { id: string; atNs: bigint }[] = [];
  for (let nowNs = 0n; nowNs < 180n * DAY; nowNs += HOUR) {
    const ended = endedKeys(keys, nowNs);
    keys = keys.filter((key) => !ended.includes(key));
    if (isKeyDue(keys, nowNs)) keys.push({ id: String(nowNs), createdAtNs: nowNs, savedAtNs: nowNs + HOUR / 2n });
    signed.push({ id: signingKey(keys, nowNs + HOUR / 2n)!.id, atNs: nowNs });
    const accepted = new Set(keys.map(({ id }) => id));
    for (const { id, atNs } of signed) if (atNs > nowNs - 2n * DAY) assert.ok(accepted.has(id), `${id} at ${nowNs}`);
  }
  assert.equal(new Set(signed.map(({ id }) => id)).size, 7);
});

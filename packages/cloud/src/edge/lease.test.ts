import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "../http/errors.ts";
import { takeLease } from "./lease.ts";

const SECOND = 1_000_000_000n;
const nowNs = 1_000n * SECOND;
const held = {
  leaseNumber: 7n,
  leaseInstanceId: "first",
  leaseExpiresAtNs: nowNs + 20n * SECOND,
  reportSequence: 5n,
  oustedInstanceId: "zeroth",
  oustedReturns: 1,
};
const expired = { ...held, leaseExpiresAtNs: nowNs - 1n };

test("the first agent of a device gets lease 1 for 60 seconds", () => {
  const lease = takeLease(null, { instanceId: "first", lease: undefined, nowNs });
  const ends = { leaseExpiresAtNs: nowNs + 60n * SECOND, reportSequence: 0n, oustedInstanceId: null, oustedReturns: 0 };
  assert.deepEqual(lease, { leaseNumber: 1n, leaseInstanceId: "first", ...ends });
});

test("the same process keeps its lease and the place of its reports, however often it says hello", () => {
  assert.equal(takeLease(held, { instanceId: "first", lease: 7n, nowNs }).leaseNumber, 7n);
  const kept = takeLease(expired, { instanceId: "first", lease: undefined, nowNs });
  assert.deepEqual([kept.leaseNumber, kept.reportSequence], [7n, 5n]);
});

test("a restart that presents the last lease takes over at once, with the next number, and its reports begin anew", () => {
  assert.deepEqual(takeLease(held, { instanceId: "second", lease: 7n, nowNs }), {
    leaseNumber: 8n,
    leaseInstanceId: "second",
    leaseExpiresAtNs: nowNs + 60n * SECOND,
    reportSequence: 0n,
    oustedInstanceId: "first",
    oustedReturns: 0,
  });
});

test("a live lease of somebody else is refused, and the answer says how long to wait", () => {
  for (const lease of [undefined, 6n])
    assert.throws(
      () => takeLease(held, { instanceId: "second", lease, nowNs }),
      (error: ApiError) => error.code === "LeaseHeldElsewhere" && error.retryAfterSeconds === 21,
    );
});

test("an agent that lost its state gets the next lease once the old one has expired", () => {
  assert.equal(takeLease(expired, { instanceId: "second", lease: undefined, nowNs }).leaseNumber, 8n);
});

test("a lease from before the clock was set back by a year keeps nobody out for that year", () => {
  const ahead = { ...held, leaseExpiresAtNs: nowNs + 365n * 86_400n * SECOND };
  assert.equal(takeLease(ahead, { instanceId: "second", lease: undefined, nowNs }).leaseNumber, 8n);
});

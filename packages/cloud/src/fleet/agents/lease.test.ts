import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiError } from "../../core/errors.ts";
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
const hello = (more: Partial<Parameters<typeof takeLease>[1]> = {}) => ({
  ...{ instanceId: "second", lease: undefined, formerInstanceIds: [], nowNs },
  ...more,
});
const expired = { ...held, leaseExpiresAtNs: nowNs - 1n };

test("the first agent of a device gets lease 1 for 60 seconds", () => {
  const lease = takeLease(null, hello({ instanceId: "first" }));
  const ends = { leaseExpiresAtNs: nowNs + 60n * SECOND, reportSequence: 0n, oustedInstanceId: null, oustedReturns: 0 };
  assert.deepEqual(lease, { leaseNumber: 1n, leaseInstanceId: "first", ...ends });
});

test("the same process keeps its lease and the place of its reports, however often it says hello", () => {
  assert.equal(takeLease(held, hello({ instanceId: "first", lease: 7n })).leaseNumber, 7n);
  const kept = takeLease(expired, hello({ instanceId: "first" }));
  assert.deepEqual([kept.leaseNumber, kept.reportSequence], [7n, 5n]);
});

test("a restart that presents the last lease takes over at once with the next number, and its reports start over", () => {
  assert.deepEqual(takeLease(held, hello({ lease: 7n })), {
    leaseNumber: 8n,
    leaseInstanceId: "second",
    leaseExpiresAtNs: nowNs + 60n * SECOND,
    reportSequence: 0n,
    oustedInstanceId: "first",
    oustedReturns: 0,
  });
});

test("a restart that knows who holds the lease takes over at once, though it never heard of that lease", () => {
  const restart = hello({ lease: 6n, formerInstanceIds: ["zeroth", "first"] });
  const { leaseNumber, oustedInstanceId } = takeLease(held, restart);
  assert.deepEqual([leaseNumber, oustedInstanceId], [8n, "first"]);
  assert.throws(() => takeLease({ ...held, leaseInstanceId: "somebody else" }, restart), /another process works/);
});

test("a live lease of somebody else is refused, and the answer says how long to wait", () => {
  for (const lease of [undefined, 6n])
    assert.throws(
      () => takeLease(held, hello({ lease })),
      (error: ApiError) => error.code === "LeaseHeldElsewhere" && error.retryAfterSeconds === 21,
    );
});

test("an agent that lost its state gets the next lease once the old one has expired", () => {
  assert.equal(takeLease(expired, hello()).leaseNumber, 8n);
});

test("a lease that was given before the clock was set back by a year keeps nobody out for that year", () => {
  const ahead = { ...held, leaseExpiresAtNs: nowNs + 365n * 86_400n * SECOND };
  assert.equal(takeLease(ahead, hello()).leaseNumber, 8n);
});

test("an agent that presents a later lease than the database knows held it before the database was set back: numbers go on above it", () => {
  for (const current of [expired, { ...held, leaseInstanceId: "second" }]) {
    const { leaseNumber, leaseInstanceId, reportSequence, oustedInstanceId } = takeLease(
      current,
      hello({ lease: 12n }),
    );
    assert.deepEqual([leaseNumber, leaseInstanceId, reportSequence, oustedInstanceId], [13n, "second", 0n, "zeroth"]);
  }
  assert.equal(takeLease(null, hello({ lease: 12n })).leaseNumber, 13n);
  assert.throws(
    () => takeLease(held, hello({ lease: 12n })),
    /another process works/,
    "not while somebody else's is alive",
  );
});

test("a number that no cloud ever gave does not count as a later lease", () => {
  const absurd = hello({ lease: BigInt(Number.MAX_SAFE_INTEGER) });
  assert.equal(takeLease(expired, absurd).leaseNumber, 8n);
  assert.equal(takeLease(null, absurd).leaseNumber, 1n);
  assert.throws(() => takeLease(held, absurd), /another process works/);
});

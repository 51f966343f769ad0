import assert from "node:assert/strict";
import { test } from "node:test";
import { areBackupsOverdue } from "./judge-backup-age.ts";

const NIGHTLY = "30 2 * * *";
const timeOf = (text: string) => Date.parse(`2026-11-${text}Z`);

function areOverdue(now: string, last: string | undefined, schedule: string | undefined = NIGHTLY): boolean {
  const lastMs = last === undefined ? undefined : timeOf(last);
  return areBackupsOverdue({ lastMs, begunMs: timeOf("10T12:00:00"), schedule, nowMs: timeOf(now) });
}

test("with a schedule, backups are overdue once the second turn after the last one is there", () => {
  assert.equal(areOverdue("19T02:29:59", "17T02:30:05"), false, "that of the 18th may still be made");
  assert.equal(areOverdue("19T02:30:01", "17T02:30:05"), true);
  assert.equal(areOverdue("19T02:30:01", "18T02:30:00"), false);
  assert.equal(areOverdue("30T02:29:59", "16T02:30:05", "30 2 * * 1"), false, "on Mondays");
  assert.equal(areOverdue("30T02:30:01", "16T02:30:05", "30 2 * * 1"), true);
});

test("with a schedule, a deployment without any backup is overdue after two turns", () => {
  assert.equal(areOverdue("11T12:00:00", undefined), false);
  assert.equal(areOverdue("12T12:00:00", undefined), true);
});

test("without a schedule, only backups that stopped are overdue", () => {
  const without = (now: string, last?: string) =>
    areBackupsOverdue({ lastMs: last ? timeOf(last) : undefined, begunMs: 0, schedule: undefined, nowMs: timeOf(now) });
  assert.equal(without("30T00:00:00"), false);
  assert.equal(without("18T00:00:00", "10T00:00:00"), false);
  assert.equal(without("18T00:00:01", "10T00:00:00"), true);
});

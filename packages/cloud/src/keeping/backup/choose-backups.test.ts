import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOf } from "./backup-record.ts";
import { chooseBackups, type Retention } from "./choose-backups.ts";

const timeOf = (text: string) => nameOf(Date.parse(`${text}Z`));
/** Two backups on each day of a year, the last one on Wednesday, 2026-11-18. */
const twiceADay = Array.from({ length: 365 }, (_, daysAgo) => {
  const day = new Date(Date.parse("2026-11-18T00:00:00Z") - daysAgo * 86_400_000).toISOString().slice(0, 10);
  return [timeOf(`${day}T02:00:00`), timeOf(`${day}T14:00:00`)];
}).flat();

function choose(retention: Retention, names = twiceADay): string[] {
  return chooseBackups(names, retention).sort().reverse();
}

test("the newest backups stay, by their number", () => {
  assert.deepEqual(choose({ last: 3 }), ["20261118t140000z", "20261118t020000z", "20261117t140000z"]);
});

test("the newest backup of each of the last days, weeks and months stays, and weeks begin on Monday", () => {
  assert.deepEqual(choose({ daily: 3 }), ["20261118t140000z", "20261117t140000z", "20261116t140000z"]);
  assert.deepEqual(choose({ weekly: 3 }), ["20261118t140000z", "20261115t140000z", "20261108t140000z"]);
  assert.deepEqual(choose({ monthly: 3 }), ["20261118t140000z", "20261031t140000z", "20260930t140000z"]);
});

test("a backup stays if one of the numbers keeps it", () => {
  const kept = choose({ last: 1, daily: 2, weekly: 2, monthly: 2 });
  assert.deepEqual(kept, ["20261118t140000z", "20261117t140000z", "20261115t140000z", "20261031t140000z"]);
});

test("days without a backup do not count, so that nothing is forgotten because backups stopped", () => {
  const names = [timeOf("2026-11-18T02:00:00"), timeOf("2025-03-01T02:00:00"), timeOf("2024-12-30T02:00:00")];
  assert.deepEqual(choose({ daily: 3 }, names), names);
  assert.deepEqual(choose({ weekly: 3 }, names), names);
});

test("weeks and months are those of the calendar, also at the turn of a year", () => {
  const names = ["2027-01-03T23:59:59", "2027-01-01T00:00:00", "2026-12-31T23:59:59", "2026-12-28T00:00:00"].map(
    timeOf,
  );
  assert.deepEqual(choose({ weekly: 9 }, names), names.slice(0, 1), "Monday to Sunday");
  assert.deepEqual(choose({ weekly: 9 }, [...names, timeOf("2026-12-27T23:59:59")]).length, 2);
  assert.deepEqual(choose({ monthly: 9 }, names), [names[0], names[2]]);
});

test("the newest backup stays whatever the numbers are, and the order of the names says nothing", () => {
  assert.deepEqual(choose({}), ["20261118t140000z"]);
  assert.deepEqual(choose({ last: 1 }, [...twiceADay].reverse()), ["20261118t140000z"]);
  assert.deepEqual(choose({ last: 2 }, []), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { rateLevel, rateText, rateWeek, spanText } from "./rate-week.ts";

function textsOf(rate: string): Record<string, string[]> {
  const week = rateWeek(rate);
  assert.ok("days" in week);
  return Object.fromEntries(week.days.map(({ name, spans }) => [name, spans.map(spanText)]));
}

test("a timetable is drawn as seven days from Monday on, each from midnight to midnight without a hole", () => {
  const texts = textsOf("Mon-Fri 08:00-18:00 1MB/s; Sat off; * 10MB/s");
  assert.deepEqual(Object.keys(texts), ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]);
  assert.deepEqual(texts.Wed, ["00:00–08:00 10 MB/s", "08:00–18:00 1.0 MB/s", "18:00–24:00 10 MB/s"]);
  assert.deepEqual([texts.Sat, texts.Sun], [["00:00–24:00 off"], ["00:00–24:00 10 MB/s"]]);
});

test("what begins before midnight goes on in the day after, also from Sunday to Monday", () => {
  const texts = textsOf("Sun 22:00-06:00 off");
  assert.deepEqual(texts.Sun, ["00:00–22:00 unlimited", "22:00–24:00 off"]);
  assert.deepEqual(texts.Mon, ["00:00–06:00 off", "06:00–24:00 unlimited"]);
});

test("a text that is no timetable says what is wrong with it", () => {
  for (const text of ["", "fast", "Mon-Fri 25:00-26:00 1MB/s", "Foo 1MB/s"]) {
    const week = rateWeek(text);
    assert.ok("problem" in week && week.problem.length > 10, text);
  }
});

test("a higher rate is never drawn lower", () => {
  const rates = [0, 1000, 5000, 1e6, 1e7, 1e9, 1e13, Number.POSITIVE_INFINITY];
  const levels = rates.map(rateLevel);
  assert.deepEqual(
    levels,
    levels.toSorted((a, b) => a - b),
  );
  assert.deepEqual([levels[0], levels.at(-1)], [0, 1]);
  assert.deepEqual([rateText(0), rateText(2e6)], ["off", "2.0 MB/s"]);
});

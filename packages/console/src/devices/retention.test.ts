import assert from "node:assert/strict";
import { test } from "node:test";
import { enrollCommands, installLine } from "./enroll-text.ts";
import { propertyLanes, valueText } from "./property-lanes.ts";
import { deletionText, retentionSeconds, typedRetention } from "./retention.ts";

test("a retention is the same after it was shown and typed again, and never shorter", () => {
  for (const seconds of [0, 3600, 86_400, 30 * 86_400, 25 * 3600]) {
    const { text, unit } = typedRetention(seconds);
    assert.equal(retentionSeconds(text, unit), seconds);
  }
  const { text, unit } = typedRetention(90);
  assert.ok(retentionSeconds(text, unit)! >= 90);
  for (const wrong of ["-1", "1.5", "ten", "1e3", "9999999"]) assert.equal(retentionSeconds(wrong, "days"), undefined);
});

test("what is deleted is said plainly, and above all that there may be no copy", () => {
  assert.match(
    deletionText({ retainSeconds: 86_400, deletesImported: false }),
    /older than 1 day, .*have no other copy/,
  );
  assert.match(
    deletionText({ retainSeconds: 7200, deletesImported: true }),
    /imported files, and all files older than 2 hours/,
  );
  assert.match(deletionText({ retainSeconds: 0, deletesImported: true }), /SHA-256/);
  assert.match(deletionText({ retainSeconds: 0, deletesImported: false }), /deletes nothing/);
});

test("no command that is shown to be copied carries a token", () => {
  const origin = "https://downlink.example";
  for (const from of ["package", "checkout"] as const) {
    const text = enrollCommands({ origin }, from);
    assert.match(text, /agent (-- )?enroll --url https:\/\/downlink\.example /);
    assert.ok(!/--token/.test(text));
  }
  assert.equal(installLine({ origin }), "curl -fsSL https://downlink.example/install.sh | sudo sh");
});

test("the values of a property lie along one axis until now, whatever their order", () => {
  const NOW_MS = 1_000_000;
  const ns = (ms: number) => BigInt(ms) * 1_000_000n;
  const one = { id: "1", deviceId: "dev_1", key: "site" };
  const { fromMs, lanes } = propertyLanes(
    [
      { ...one, value: "Berlin", start: ns(500_000) },
      { ...one, value: "Munich", start: 0n, end: ns(250_000) },
      { ...one, key: "arms", value: 2, start: ns(250_000), end: ns(2_000_000) },
    ],
    NOW_MS,
  );
  assert.equal(fromMs, 0);
  assert.deepEqual(
    lanes.map(({ key, spans }) => [key, ...spans.map(({ left, width }) => [left, width])]),
    [
      ["arms", [0.25, 0.75]],
      ["site", [0, 0.25], [0.5, 0.5]],
    ],
  );
  assert.deepEqual(propertyLanes([], NOW_MS).lanes, []);
  assert.deepEqual([valueText(["a", "b"]), valueText(false), valueText(3)], ["a, b", "false", "3"]);
});

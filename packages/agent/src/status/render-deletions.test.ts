import assert from "node:assert/strict";
import { test } from "node:test";
import { healthyStatus, sampleTimeMs } from "../testing/sample-status.ts";
import { renderDeletions } from "./render-deletions.ts";

const wide = { nowMs: sampleTimeMs, columns: 200, isColored: false, lines: 1 };
const render = (deletions: Partial<typeof healthyStatus.deletions>, options = wide) =>
  renderDeletions({ ...healthyStatus, deletions: { ...healthyStatus.deletions, ...deletions } }, options);

test("planned deletions are shown with the rule, the space and the next file; without any there is no line", () => {
  assert.deepEqual(render({}), []);
  const planned = [
    { reason: "imported" as const, files: 10, bytes: 3.4e9 },
    { reason: "prune" as const, files: 2, bytes: 5e6 },
  ];
  assert.deepEqual(render({ planned, nextPath: "cam/a.mcap" }), [
    "Deleting    10 imported (3.4 GB), 2 not imported, for space (5.0 MB), next cam/a.mcap",
  ]);
});

test("imported files that wait for a backup are shown with the reason, beside what may go", () => {
  const waiting = { files: 12, text: "no backup of the control plane holds it yet" };
  const line = "Deleting    12 imported may not go yet (no backup of the control plane holds it yet)";
  assert.deepEqual(render({ waiting }), [line]);
  const planned = [{ reason: "imported" as const, files: 1, bytes: 5e6 }];
  assert.deepEqual(render({ waiting, planned }), [line.replace("    12", "    1 imported (5.0 MB), 12")]);
});

test("a retention that waits says until when, and a long line fits the screen", () => {
  const held = { heldUntil: "2026-01-03T03:04:05.6Z" };
  assert.deepEqual(render(held), ["Deleting    nothing for its age before 2026-01-03T03:04Z"]);
  const [line] = render({ ...held, nextPath: "ü".repeat(500) }, { ...wide, columns: 80 });
  assert.ok([...line!].length <= 80);
});

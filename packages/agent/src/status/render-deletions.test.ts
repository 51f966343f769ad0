import assert from "node:assert/strict";
import { test } from "node:test";
import { healthyStatus, sampleTimeMs } from "../testing/sample-status.ts";
import { renderDeletions } from "./render-deletions.ts";

const wide = { nowMs: sampleTimeMs, columns: 200, isColored: false, lines: 1 };
const render = (deletions: Partial<typeof healthyStatus.deletions>, options = wide) =>
  renderDeletions({ ...healthyStatus, deletions: { ...healthyStatus.deletions, ...deletions } }, options);

const now = { heldUntil: null };

test("planned deletions are shown with the rule, the space and the next file; without any there is no line", () => {
  assert.deepEqual(render({}), []);
  const planned = [
    { reason: "imported" as const, files: 10, bytes: 3.4e9, ...now },
    { reason: "prune" as const, files: 2, bytes: 5e6, ...now },
  ];
  assert.deepEqual(render({ planned, nextPath: "cam/a.mcap" }), [
    "Deleting    10 imported (3.4 GB), 2 not imported, for space (5.0 MB), next cam/a.mcap",
  ]);
});

test("imported files that wait for a backup are shown with the reason, beside what may go", () => {
  const waiting = { files: 12, text: "no backup of the control plane holds it yet" };
  const line = "Deleting    12 imported may not be deleted yet (no backup of the control plane holds it yet)";
  assert.deepEqual(render({ waiting }), [line]);
  const planned = [{ reason: "imported" as const, files: 1, bytes: 5e6, ...now }];
  assert.deepEqual(render({ waiting, planned }), [line.replace("    12", "    1 imported (5.0 MB), 12")]);
});

test("a retention that waits says until when, and a long line fits the screen", () => {
  const held = { heldUntil: "2026-01-03T03:04:05.6Z" };
  assert.deepEqual(render(held), ["Deleting    nothing for its age before 2026-01-03T03:04Z"]);
  const [line] = render({ ...held, nextPath: "ü".repeat(500) }, { ...wide, columns: 80 });
  assert.ok([...line!].length <= 80);
});

test("what a new disk limit would delete is shown with its beginning and the commands, beside what other rules delete", () => {
  const heldUntil = new Date(sampleTimeMs + 8 * 60_000).toISOString();
  const time = new Date(heldUntil).toTimeString().slice(0, 5);
  const space = { reason: "space" as const, files: 20, bytes: 3e9, heldUntil };
  const prune = { reason: "prune" as const, files: 5, bytes: 2e8, heldUntil };
  const ends = `to keep below the limit; begins at ${time}, \`agent confirm\` begins now, removing the limit from the settings stops it`;
  const line = `Disk limit  would delete 25 files (3.2 GB), 5 of them never imported, ${ends}`;
  assert.deepEqual(render({ planned: [space, prune], nextPath: "cam/a.mcap" }), [line]);
  const imported = { reason: "imported" as const, files: 1, bytes: 5e6, ...now };
  assert.deepEqual(render({ planned: [imported, { ...space, files: 1 }], nextPath: "cam/a.mcap" }), [
    "Deleting    1 imported (5.0 MB), next cam/a.mcap",
    `Disk limit  would delete 1 file (3.0 GB) ${ends}`,
  ]);
});

test("files that were deleted are counted", () => {
  const last = [{ path: "a.mcap", sizeBytes: 1, reason: "space" as const, deletedAt: "2026-01-02T03:02:05Z" }];
  assert.deepEqual(render({ deletedFiles: 25, last }), [
    "Deleted     25 files since the start, the last one 2 min ago",
  ]);
  assert.deepEqual(render({ last }), []);
});

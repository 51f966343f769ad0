import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { planEnds } from "./plan-ends.ts";

const identity = { device: 0, inode: 1, sizeBytes: 5, mtimeNs: 1n, ctimeNs: 1n };
const rest = { reportedAs: "indexed", needsReport: false, revision: 1, foundIn: 1 } as const;
const here: TrackedFile = { versionId: "v", path: "a.mcap", identity, state: "imported", ...rest };
const away: TrackedFile = { ...here, state: "away", away: { card: "A", before: "imported", sinceNs: 1n } };

function endsOf(reported: TrackedFile, now: TrackedFile | undefined) {
  const inventory = { version: () => now, outcome: () => undefined };
  return planEnds(inventory, [reported], { failed: [] }).map((step) => step.do === "event" && step.event);
}

test("an end that counts no more is recorded also for a file that is away, and a swap meanwhile changes nothing", () => {
  assert.deepEqual(endsOf(away, away), ["importTakenBack"]);
  assert.deepEqual(endsOf(here, away), ["importTakenBack"], "its card was taken out meanwhile");
  assert.deepEqual(endsOf(away, { ...here }), ["importTakenBack"], "its card is in again");
  assert.deepEqual(endsOf(here, { ...away, away: { ...away.away!, before: "requested" } }), []);
  assert.deepEqual(endsOf(here, { ...here }), [], "something was recorded of it since");
  assert.deepEqual(endsOf(here, undefined), []);
});

test("why an import failed is also recorded for what is away", () => {
  const failed = [{ versionId: "v", code: "DuplicateContent", text: "another has it" }] as const;
  const inventory = { version: () => away, outcome: () => undefined };
  const [step] = planEnds(inventory, [away], { failed: [...failed] });
  assert.equal(step?.do === "event" && step.event, "foundDuplicate");
});

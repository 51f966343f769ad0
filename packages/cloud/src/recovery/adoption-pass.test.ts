import assert from "node:assert/strict";
import { test } from "node:test";
import { states } from "../db/generated/states.ts";
import { type AdoptionEvent, nextPass, passesBeforeIndexing } from "./adoption-pass.ts";

const events: AdoptionEvent[] = ["done", "tooMany", "accept"];

test("each event leads from one pass to the next as the drawing shows", () => {
  const shown = states.Adoption.pass.map((pass) => [pass, ...events.map((event) => nextPass(pass, event) ?? "-")]);
  assert.deepEqual(shown, [
    ["ledger", "listing", "-", "-"],
    ["listing", "imported", "-", "-"],
    ["imported", "rest", "-", "-"],
    ["rest", "rows", "-", "-"],
    ["rows", "marking", "asking", "-"],
    ["asking", "-", "-", "marking"],
    ["marking", "over", "-", "-"],
    ["over", "-", "-", "-"],
  ]);
});

test("nothing is indexed before all recordings in the store were found", () => {
  const [last] = passesBeforeIndexing.slice(-1);
  assert.equal(last, "imported");
  for (const pass of passesBeforeIndexing.slice(0, -1))
    assert(passesBeforeIndexing.some((held) => held === nextPass(pass, "done")));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { IngestPathRule } from "@downlink/protocol";
import { changeRule, isSamePolicy, moveRule } from "./policy-draft.ts";

const rule = (pattern: string): IngestPathRule => ({ pattern, action: { type: "import" } });
const patternsOf = (rules: readonly IngestPathRule[]) => rules.map(({ pattern }) => pattern).join("");

test("a rule moves by one place, and at an end it stays", () => {
  const rules = ["a", "b", "c"].map(rule);
  assert.equal(patternsOf(moveRule(rules, 0, 1)), "bac");
  assert.equal(patternsOf(moveRule(rules, 2, -1)), "acb");
  assert.equal(patternsOf(moveRule(rules, 0, -1)), "abc");
  assert.equal(patternsOf(moveRule(rules, 2, 1)), "abc");
});

test("what a rule has that is not known here stays when it is changed", () => {
  const later = { ...rule("a"), note: "of a later version", action: { type: "import", tag: 7 } } as IngestPathRule;
  const changed = changeRule(later, { pattern: "b", nameTemplate: "robot-{1}" });
  assert.deepEqual(changed, {
    pattern: "b",
    note: "of a later version",
    action: { type: "import", tag: 7, nameTemplate: "robot-{1}" },
  });
  assert.deepEqual(changeRule(changed, { type: "ignore" }).action, { type: "ignore", tag: 7 });
  assert.deepEqual(changeRule(changed, { nameTemplate: "" }).action, { type: "import", tag: 7 });
});

test("the order of the rules is a part of a policy", () => {
  assert.ok(isSamePolicy(["a", "b"].map(rule), ["a", "b"].map(rule)));
  assert.ok(!isSamePolicy(["a", "b"].map(rule), ["b", "a"].map(rule)));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { activeAfter, quoteTerm, withWords } from "./found.ts";

const all = [
  { id: "1", text: "API keys", detail: "Settings" },
  { id: "2", text: "Keyboard shortcuts" },
];
const idsOf = (query: string) => withWords(all, query).map(({ id }) => id);

test("pages and actions are found by any of their words, in any case and order", () => {
  assert.deepEqual(idsOf("KEY"), ["1", "2"]);
  assert.deepEqual(idsOf("keys sett"), ["1"]);
  assert.deepEqual(idsOf(""), ["1", "2"]);
  assert.deepEqual(idsOf("keys elsewhere"), []);
});

test("arrows go around what was found, and other keys do not move", () => {
  const ids = ["a", "b", "c"];
  assert.equal(activeAfter("ArrowDown", ids, undefined), "a");
  assert.equal(activeAfter("ArrowDown", ids, "c"), "a");
  assert.equal(activeAfter("ArrowUp", ids, "a"), "c");
  assert.equal(activeAfter("ArrowUp", ids, "c"), "b");
  assert.equal(activeAfter("ArrowDown", [], undefined), undefined);
  assert.equal(activeAfter("x", ids, "a"), undefined);
});

test("a text is looked for as it was typed, whatever it means in a query", () => {
  assert.equal(quoteTerm("reason:estop"), '"reason:estop"');
  assert.equal(quoteTerm('a "b" \\c\u0007'), '"a \\"b\\" \\\\c "');
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { countNew, takeOver } from "./take-over.ts";

const shown = [
  { id: "a", status: "none" },
  { id: "b", status: "pending" },
];

test("rows get their new contents where they are", () => {
  const fresh = [
    { id: "a", status: "none" },
    { id: "b", status: "complete" },
  ];
  assert.deepEqual(takeOver(shown, fresh), { rows: fresh, isMoved: false });
});

test("a new row moves none that is shown: it is counted", () => {
  const fresh = [
    { id: "new", status: "none" },
    { id: "a", status: "pending" },
  ];
  const { rows, isMoved } = takeOver(shown, fresh);
  assert.deepEqual(rows, [{ id: "a", status: "pending" }, shown[1]]);
  assert.deepEqual([isMoved, countNew(shown, fresh)], [true, 1]);
});

test("a row that went stays until somebody asks for the list", () => {
  assert.deepEqual(takeOver(shown, [shown[1]!]), { rows: shown, isMoved: true });
});

test("an empty list is filled at once", () => {
  assert.deepEqual(takeOver([], shown), { rows: shown, isMoved: false });
});

test("a row that slides from one part of the list into the next is not new, and one that is in both counts once", () => {
  const [a, b, c, added] = ["a", "b", "c", "added"].map((id) => ({ id }));
  assert.equal(countNew([a!, b!, c!], [added!, a!, b!]), 1);
  assert.equal(countNew([a!, b!], [added!, a!, added!, b!]), 1);
});

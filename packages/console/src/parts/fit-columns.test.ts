import assert from "node:assert/strict";
import { test } from "node:test";
import { fitColumns } from "./fit-columns.ts";

const columns = [
  { name: "start", width: "158px" },
  { name: "duration", width: "84px", spare: 2 },
  { name: "path", width: "minmax(150px, 3fr)" },
  { name: "session", width: "minmax(60px, 1fr)", spare: 1 },
];
const namesAt = (widthPx: number, hasSelection = false) =>
  fitColumns(columns, { widthPx, hasSelection }).map(({ name }) => name);

test("columns that can be spared are left out in their order until the others have room", () => {
  assert.deepEqual(namesAt(512), ["start", "duration", "path", "session"]); // 452 and three gaps and both ends
  assert.deepEqual(namesAt(511), ["start", "duration", "path"]);
  assert.deepEqual(namesAt(512, true), ["start", "duration", "path"]);
  assert.deepEqual(namesAt(400), ["start", "path"]);
  assert.deepEqual(namesAt(100), ["start", "path"]);
});

test("before the place is measured all columns stand there", () => {
  assert.equal(namesAt(0).length, 4);
});

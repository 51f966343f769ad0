import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { describePath, formatPath, listFields, parsePath, readField } from "./fields.ts";

test("every path comes back from its text, whatever its names are", () => {
  fc.assert(fc.property(fc.array(fc.string()), (path) => assert.deepEqual(parsePath(formatPath(path)), path)));
});

test("numbers, whole numbers of 64 bits and truths are fields; texts, bytes and what is empty are none", () => {
  const message = {
    a: 1,
    b: 2n,
    c: true,
    d: "4",
    e: new Uint8Array(4),
    f: [],
    g: { h: new Float32Array([7]) },
    i: null,
  };
  const fields = listFields(message);
  assert.deepEqual(fields.map(describePath), ["a", "b", "c", "g.h[0]"]);
  assert.deepEqual(
    fields.map((path) => readField(message, path)),
    [1, 2, 1, 7],
  );
});

test("a name that all objects know is a field only where the message has it", () => {
  assert.equal(readField({ a: 1 }, ["constructor", "length"]), undefined);
  assert.equal(readField([1, 2], ["length"]), undefined);
  const message = JSON.parse('{"__proto__": {"x": 3}, "constructor": 4}');
  assert.deepEqual(
    listFields(message).map((path) => readField(message, path)),
    [3, 4],
  );
});

test("of a message with a hundred thousand fields, or as deep as it may be sent, the first are listed", () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, index]));
  assert.equal(listFields(wide).length, 500);
  const deep = JSON.parse(`${"[".repeat(100_000)}1${"]".repeat(100_000)}`);
  assert.deepEqual(listFields(deep), []);
});

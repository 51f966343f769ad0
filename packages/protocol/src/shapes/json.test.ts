import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonObject, storableJsonObject } from "./json.ts";

const Small = jsonObject({ maxCharacters: 100 });

/** An object nested as deep as `depth`, with a 1 inside. */
function nest(depth: number): unknown {
  return depth === 0 ? 1 : { a: nest(depth - 1) };
}

test("any JSON object is taken as it is, nested up to 32 deep", () => {
  for (const value of [{}, { a: null, b: [1, { c: "\0" }], "\ud800": true }, nest(31)])
    assert.deepEqual(jsonObject({ maxCharacters: 1000 }).parse(value), value);
});

test("a value that is no object, too deep, too long or beyond a 64-bit float is refused", () => {
  const refusedFor = (value: unknown) => Small.safeParse(value).error?.issues[0]?.message;
  for (const value of [[], null, "{}", 1]) assert.ok(refusedFor(value));
  assert.match(refusedFor(nest(32))!, /32 deep/);
  assert.match(refusedFor({ a: "x".repeat(100) })!, /100 characters/);
  assert.equal(refusedFor({ a: "x".repeat(100 - '{"a":""}'.length) }), undefined);
  assert.match(refusedFor(JSON.parse('{"a":[1e400]}'))!, /64-bit float/);
});

test("depth that would exhaust a stack is refused, and does not crash", () => {
  let value: object = {};
  for (let depth = 0; depth < 100_000; depth++) value = { a: value };
  assert.equal(Small.safeParse(value).success, false);
  assert.equal(storableJsonObject({ maxCharacters: 100 }).safeParse(value).success, false);
});

test("if texts are stored as texts, NUL and halves of surrogate pairs are refused in keys and values", () => {
  const Storable = storableJsonObject({ maxCharacters: 100 });
  for (const value of [{ "a\0": 1 }, { a: ["\0"] }, { a: { "\ud800": 1 } }, { a: "\udc00" }])
    assert.equal(Storable.safeParse(value).success, false);
  assert.equal(Storable.safeParse({ "🤖": ["🤖", 1, null] }).success, true);
});

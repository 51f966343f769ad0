import assert from "node:assert/strict";
import { test } from "node:test";
import type { PropertyChanges, PropertyValue, PropertyValueType } from "@downlink/protocol";
import fc from "fast-check";
import { ApiError } from "../../core/errors.ts";
import { applyPropertyChanges, checkPropertyChanges, MAX_TEXT_LENGTH } from "./property-values.ts";

function define(valueType: PropertyValueType, enumValues: readonly string[] = []) {
  return [{ key: "key", valueType, enumValues }];
}

function faults(valueType: PropertyValueType, value: PropertyValue, enumValues: readonly string[] = []) {
  try {
    checkPropertyChanges(define(valueType, enumValues), { key: value });
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.toBody();
  }
  return undefined;
}

const fitting: readonly [PropertyValueType, PropertyValue, (readonly string[])?][] = [
  ["string", ""],
  ["string", "x".repeat(MAX_TEXT_LENGTH.string)],
  ["string", "grüße 🤖"],
  ["multiline-string", "a\nb\r\n\tc"],
  ["multiline-string", "x".repeat(MAX_TEXT_LENGTH["multiline-string"])],
  ["number", 0],
  ["number", -1.5e308],
  ["number", Number.MIN_VALUE],
  ["boolean", false],
  ["enum", "b", ["a", "b"]],
  ["multi-enum", ["b", "a"], ["a", "b", "c"]],
  ["multi-enum", [], ["a"]],
];
for (const [valueType, value, enumValues] of fitting)
  test(`a ${valueType} may be ${JSON.stringify(value).slice(0, 40)}`, () => {
    assert.equal(faults(valueType, value, enumValues), undefined);
  });

const refused: readonly [PropertyValueType, PropertyValue, (readonly string[])?][] = [
  ["string", 1],
  ["string", ["a"]],
  ["string", "x".repeat(MAX_TEXT_LENGTH.string + 1)],
  ["string", "a\0b"],
  ["string", "\ud800"],
  ["multiline-string", true],
  ["multiline-string", "x".repeat(MAX_TEXT_LENGTH["multiline-string"] + 1)],
  ["number", "1"],
  ["number", Number.NaN],
  ["number", Number.POSITIVE_INFINITY],
  ["boolean", "true"],
  ["boolean", 0],
  ["enum", "A", ["a"]],
  ["enum", ["a"], ["a"]],
  ["multi-enum", "a", ["a"]],
  ["multi-enum", ["a", "d"], ["a"]],
  ["multi-enum", ["a", "a"], ["a"]],
];
for (const [valueType, value, enumValues] of refused)
  test(`a ${valueType} may not be ${(JSON.stringify(value) ?? String(value)).slice(0, 40)}: 400 naming properties.key`, () => {
    const body = faults(valueType, value, enumValues);
    assert.equal(body?.code, "InvalidRequest");
    assert.match(body.error, /^properties\.key (must|holds|has) /);
    assert.deepEqual(
      body.details?.map(({ path }) => path),
      ["properties.key"],
    );
  });

test("every value that does not fit is named, not only the first", () => {
  const definitions = ["a", "b", "c"].map((key) => ({ key, valueType: "number" as const, enumValues: [] }));
  assert.throws(
    () => checkPropertyChanges(definitions, { a: "x", b: 1, c: true }),
    (error: ApiError) => error.details?.map(({ path }) => path).join() === "properties.a,properties.c",
  );
});

test("keys that are no custom property are ignored, and names of Object.prototype are not taken for keys", () => {
  const definitions = ["known", "toString", "constructor"].map((key) => ({
    key,
    valueType: "number" as const,
    enumValues: [],
  }));
  assert.deepEqual(checkPropertyChanges(definitions, { known: 1, unknown: "x" }), { known: 1 });
});

test("null removes a value of any type", () => {
  for (const valueType of ["string", "number", "enum"] as const)
    assert.deepEqual(checkPropertyChanges(define(valueType), { key: null }), { key: null });
  assert.deepEqual(applyPropertyChanges({ key: 1, other: 2 }, { key: null, absent: null }), { other: 2 });
});

test("keys that are not sent stay, keys that are sent have the value sent", () => {
  const value = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.array(fc.string()));
  const key = fc.stringMatching(/^[A-Za-z0-9_-]{1,3}$/);
  fc.assert(
    fc.property(
      fc.dictionary(key, value),
      fc.dictionary(key, fc.option(value)),
      (current, changes: PropertyChanges) => {
        const merged = applyPropertyChanges(current, changes);
        for (const known of new Set([...Object.keys(current), ...Object.keys(changes)])) {
          const expected = Object.hasOwn(changes, known) ? changes[known] : current[known];
          assert.deepEqual(Object.hasOwn(merged, known) ? merged[known] : null, expected);
        }
      },
    ),
  );
});

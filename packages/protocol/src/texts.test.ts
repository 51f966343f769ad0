import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { z } from "zod";
import { textsByKey } from "./shapes/any-keys.ts";
import { fileText, isStorable, StorableText } from "./shapes/text.ts";
import { everyInput, leavesOf } from "./testing/every-input.ts";

const unstorable = ["a\0", "\ud800", "x\udc00y"];

/** These keep the JSON text as it was sent, where such a character is an escape. */
const keptAsJson = ["layouts.create data", "layouts.update data", "episodes.getOrCreate episodes.creationContext"];
/** Their definitions and their handler say which values they may have. */
const ofCustomProperties = /^(devices|events|sessions)\.(create|update) properties/;

test("no operation takes a text that cannot be stored", () => {
  const leaves = [...everyInput()].flatMap((input) => [...leavesOf(input)]);
  const faults = leaves.flatMap(({ place, schema }) => (takesUnstorable(schema) ? [place] : []));
  assert.deepEqual(
    faults.filter((place) => !keptAsJson.includes(place) && !ofCustomProperties.test(place)),
    [],
  );
  assert.deepEqual(
    keptAsJson.filter((place) => !faults.includes(place)),
    [],
  );
});

function takesUnstorable(schema: z.ZodType): boolean {
  const given = unstorable.flatMap((text) => [text, [text], { [text]: "a" }, { [text]: 1 }, { a: text }]);
  return given.some((value) => {
    const { success, data } = schema.safeDecode(value as never);
    return success && !textsIn(data).every(isStorable);
  });
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.entries(value).flat().flatMap(textsIn) : [];
}

const anyText = fc.oneof(
  fc.string(),
  // The unit "binary" of fast-check would be the same, but it makes a map of all characters, which takes a second.
  fc
    .array(fc.nat({ max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff))
    .map((codes) => String.fromCodePoint(...codes)),
  fc
    .array(fc.constantFrom("\0", "\ud800", "\udfff", "\\", "u", "0000", "005c", "d800", "x"))
    .map((parts) => parts.join("")),
  fc.array(fc.nat({ max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

test("a file's text is never refused, can be stored as it is decoded, and leads back to what the file says", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = fileText().decode(text);
      assert.ok(isStorable(stored));
      assert.equal(fileText().encode(stored), text);
      if (isStorable(text) && !text.includes("\\")) assert.equal(stored, text);
    }),
  );
});

test("an escaped text from a file can be recognized, and so can a text that only looks like one", () => {
  const seen = ["/a\0b", "\ud83d", "\ud83e\udd16", "C:\\users", "\\u0000", "\\u005cu0000"].map((text) =>
    fileText().decode(text),
  );
  assert.deepEqual(seen, ["/a\\u0000b", "\\ud83d", "\ud83e\udd16", "C:\\users", "\\u005cu0000", "\\u005cu005cu0000"]);
});

test("any key is kept, even `__proto__`, and each error names its key", () => {
  const given = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
  assert.deepEqual(Object.entries(textsByKey(StorableText).decode(given)), Object.entries(given));
  const faults = textsByKey(StorableText).safeDecode({ k: "\0", "\0": "v", n: 1 as never, fine: "v" }).error!.issues;
  assert.deepEqual(
    faults.map(({ path }) => path),
    [["k"], ["\0"], ["n"]],
  );
  const wrong = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, 1 as never]));
  assert.equal(textsByKey(StorableText).safeDecode(wrong).error!.issues.length, 100, "of many, the first hundred");
  for (const other of [null, [], "a", undefined])
    assert.equal(textsByKey(StorableText).safeDecode(other as never).success, false);
});

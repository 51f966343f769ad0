import assert from "node:assert/strict";
import { test } from "node:test";
import { compileGlobs, compilePattern, countWildcards } from "./globs.ts";

const cases: readonly (readonly [pattern: string, name: string, parts: readonly string[] | undefined])[] = [
  ["robots/*/run.mcap", "robots/r2/run.mcap", ["r2"]],
  ["robots/*/run.mcap", "robots/r2/d2/run.mcap", undefined],
  ["robots/*/run.mcap", "Robots/r2/run.mcap", undefined],
  ["robots/*/**", "robots/r2/2026/a.mcap", ["r2", "2026/a.mcap"]],
  ["robots/*/**", "robots/r2", undefined],
  ["robots/**", "robots", [""]],
  ["**/*.mcap", "a/b/c.mcap", ["a/b", "c"]],
  ["**/*.mcap", "c.mcap", ["", "c"]],
  ["*-*", "a-b-c", ["a-b", "c"]],
  ["r[0-9]?/{x,y*}", "r1b/yes", ["1", "b", "es"]],
  ["r[0-9]?/{x,y*}", "r1b/x", ["1", "b", ""]],
  ["r[0-9]+/x", "r123/x", ["123"]],
  ["plain name", "plain name", []],
  ["!**/*.tmp", "a/b.mcap", []],
  ["!**/*.tmp", "a/b.tmp", undefined],
  ["ü*/日本/?", "über/日本/語", ["ber", "語"]],
];

for (const [pattern, name, parts] of cases)
  test(`${pattern} ${parts ? "fits" : "does not fit"} ${name}`, () => {
    const compiled = compilePattern(pattern);
    assert.equal(compiled.fits(name), parts !== undefined);
    if (parts) assert.deepEqual(compiled.partsOf(name), parts);
    assert.equal(compiled.fits(name), compileGlobs([pattern], { isCaseSensitive: true })(name));
  });

test("wildcards are counted in the order of the text, and none of a pattern that means all others", () => {
  assert.equal(countWildcards("a/*/**/[ab]/?{*,c}"), 5);
  assert.equal(countWildcards("!a/*"), 0);
  assert.throws(() => compilePattern("a["), RangeError);
});

test("hostile patterns take steps in proportion to a name's length", () => {
  const partsOf = (pattern: string, name: string) => compilePattern(pattern).partsOf(name);
  const name = `${"a".repeat(1000)}b`;
  assert.deepEqual(partsOf(`${"*a".repeat(200)}*b`, name).join("").length, 800);
  assert.equal(compilePattern(`${"*a".repeat(300)}c`).fits(name), false);
  assert.deepEqual(partsOf(`${"**/".repeat(100)}*`, `${"a/".repeat(500)}b`).at(-1), "b");
  assert.equal(compilePattern(`${"{a,a}".repeat(150)}*c`).fits(name), false);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import picomatch from "picomatch";
import { holdGlobs, holdSeveralGlobs } from "../testing/hold-globs.ts";
import { checkGlob, compileGlobs, globLimits } from "./globs.ts";

const fits = (path: string, ...globs: string[]) => compileGlobs(globs)(path);

test("globs mean the same as with picomatch", () => holdGlobs(200));

test("several globs mean any of them, as with picomatch", () => holdSeveralGlobs(50));

test("globs as people write them in settings are understood", () => {
  assert.ok(fits("run/a.MCAP", "**/*.{mcap,bag}"));
  assert.ok(fits("a.bag", "**/*.{mcap,bag}"));
  assert.ok(!fits("a.mcap.active", "**/*.{mcap,bag}"));
  assert.ok(fits("2026/11/x.mcap", "2026/**"));
  assert.ok(fits("a/b/c.mcap", "**.mcap"));
  assert.ok(!fits("a/b/c.mcap", "*.mcap"));
  assert.ok(fits("a.b1", "a.b{1..3}") && !fits("aab1", "a.b{1..3}"), "a dot is a dot");
  assert.ok(fits(".hidden/x.mcap", "*/x.mcap"));
  assert.ok(fits("run [1].mcap", "run [[]1].mcap"));
  assert.ok(fits("a[\u{1F600}]", "*[\u{1F600}]"));
  assert.ok(fits("run (1).mcap", "run \\(*\\).mcap"));
  assert.ok(fits("b.mcap", "[!a]*") && !fits("a.mcap", "[!a]*"), "as a shell has it");
  assert.ok(!fits("ETH0", "eth*") === false && !compileGlobs(["eth*"], { isCaseSensitive: true })("ETH0"));
});

test("names with a newline match like others", () => {
  assert.ok(fits("a\nb.mcap", "**/*.mcap"));
  assert.ok(fits("x\ny/a.mcap", "**"));
});

test("no glob makes a path take more steps than it has characters", () => {
  const stars = `${"*a".repeat(200)}*b`;
  for (const length of [60, 1000])
    assert.equal(fits("a".repeat(length), stars, `**/${stars}`, "{a*,*a}".repeat(40)), true);
  for (const length of [60, 1000]) assert.equal(fits("a".repeat(length), stars, `**/${stars}`), false);
  assert.equal(fits("ab".repeat(2000), `**${"/**/a*".repeat(50)}/b`), false);
  assert.equal(fits(`${"a".repeat(39)}c`, "{a,b}".repeat(40)), false);
  assert.equal(fits("ab".repeat(20), "{a,b}".repeat(40)), true);
  assert.equal(fits("ab", `${"{a,".repeat(120)}b${"}".repeat(120)}+`), true);
  assert.equal(fits("a".repeat(4000), ...Array.from({ length: 100 }, (_, n) => `!${"*a".repeat(20)}*b${n}`)), true);
});

test("what is remembered of earlier paths stays within bounds, and changes nothing", () => {
  const globs = Array.from({ length: 20 }, (_, n) => `**${`/*${String.fromCharCode(97 + n)}*`.repeat(8)}`);
  const matches = compileGlobs(globs);
  const oracle = picomatch(globs, { dot: true, nocase: true });
  const names = fc.sample(fc.array(fc.stringMatching(/^[a-t]{1,12}$/), { minLength: 1, maxLength: 10 }), {
    numRuns: 300,
    seed: 1,
  });
  for (const segments of names)
    assert.equal(matches(segments.join("/")), oracle(segments.join("/")), segments.join("/"));
});

test("an invalid glob, or too many or too long ones, is refused with the reason", () => {
  const refused: Record<string, RegExp> = {
    "a(b|c)": /at character 2: \( has no meaning here; write \\\(/,
    "!(a)": /\( has no meaning/,
    "{a,b": /at character 1: a \{ has no \}/,
    "x[ab": /at character 2: a \[ has no \]/,
    "[[:digit:]]": /write \[a-z\] or \[0-9\]/,
    "[b-a]": /wrong way round/,
    "{1..10}": /single characters/,
    "a\\": /must not end with a single/,
    '"a"': /has no meaning/,
  };
  for (const [text, reason] of Object.entries(refused))
    assert.throws(() => checkGlob(text), { name: "RangeError", message: reason }, text);
  const long = "a".repeat(globLimits.characters + 1);
  assert.throws(() => checkGlob(long), /has 501 characters; a glob has at most 500/);
  assert.throws(() => compileGlobs(Array(101).fill("a")), /101 globs; at most 100/);
  assert.throws(() => compileGlobs(Array(11).fill("a".repeat(500))), /5500 characters together; at most 5000/);
});

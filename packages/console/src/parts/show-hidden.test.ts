import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { showHidden } from "./show-hidden.ts";

test("characters that turn the order of others, or are drawn as nothing, become visible escapes", () => {
  assert.equal(showHidden("\u202emcap.exe"), "⟨U+202E⟩mcap.exe");
  assert.equal(showHidden("a\u200bb\ufeffc\u0007d\u00ade"), "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+0007⟩d⟨U+00AD⟩e");
  assert.equal(showHidden("one\ntwo"), "one⟨U+000A⟩two");
  assert.equal(showHidden("\u{e0041}"), "⟨U+E0041⟩");
  const ranges = [
    [0x00, 0x1f],
    [0x7f, 0x9f],
    [0x200b, 0x200f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
    [0xfeff, 0xfeff],
  ] as const;
  for (const [first, last] of ranges)
    for (let point = first; point <= last; point++)
      assert.match(showHidden(String.fromCodePoint(point)), /^⟨U\+[0-9A-F]{4}⟩$/, point.toString(16));
});

test("texts of any script stay as they are, and no text loses a visible character", () => {
  for (const text of ["2026-04-14/run 7.mcap", "Zürich", "שלום", "日本語", "❤️", "a\u0301"])
    assert.equal(showHidden(text), text);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(showHidden(showHidden(text)), showHidden(text));
    }),
  );
});

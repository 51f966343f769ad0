import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { displayWidth } from "./display-width.ts";
import { fit } from "./fit.ts";

test("wide characters take two columns, joined ones none", () => {
  const widths = { abc: 3, ü: 1, "u\u0308": 1, 日本: 4, ｱ: 1, Ａ: 2, "🚗": 2, "👩‍🚒": 2, "🇩🇪": 2, "…": 1, 한: 2 };
  for (const [text, width] of Object.entries(widths)) assert.equal(displayWidth(text), width, text);
});

test("what is cut fits, and takes what there is but for one column", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 100 }), fc.integer({ min: 3, max: 60 }), (text, width) => {
      const shown = displayWidth(fit(text, width));
      assert.ok(shown <= width && (shown >= width - 2 || displayWidth(text) <= width), `${shown} of ${width}`);
    }),
  );
});

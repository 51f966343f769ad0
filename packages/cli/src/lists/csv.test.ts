import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fieldText, toCsv } from "./csv.ts";

/** Reads CSV character by character, as RFC 4180 describes it. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let [row, field, isQuoted]: [string[], string, boolean] = [[], "", false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (isQuoted && character === '"' && text[at + 1] === '"') field += text[++at];
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted || (character !== "," && character !== "\n")) field += character;
    else {
      row.push(field);
      field = "";
      if (character === "\n") [row] = [[], rows.push(row)];
    }
  }
  return rows;
}

test("any texts come back from CSV as they were, each in its field", () => {
  const unit = fc.constantFrom('"', ",", "\n", "\r", "\u001b", "\0", "\u2028", " ", "a", "é", "🚗");
  const text = fc.string({ unit, maxLength: 6 });
  const rows = fc
    .integer({ min: 1, max: 4 })
    .chain((width) => fc.array(fc.array(text, { minLength: width, maxLength: width })));
  fc.assert(fc.property(rows, (given) => assert.deepEqual(parseCsv(toCsv(given)), given)));
});

test("plain values have no quotes", () => {
  assert.equal(
    toCsv([
      ["id", "start"],
      ["rec_1", "2026-11-05T10:00:00.123456789Z"],
    ]),
    "id,start\nrec_1,2026-11-05T10:00:00.123456789Z\n",
  );
});

test("values are whole, lists are JSON, and an absent one is empty", () => {
  const document = { size: 9007199254740991, device: { name: "rover" }, tags: ["a"], none: null };
  const texts = ["size", "device.name", "device.id", "tags", "none", "a.b.c"].map((path) => fieldText(document, path));
  assert.deepEqual(texts, ["9007199254740991", "rover", "", '["a"]', "", ""]);
});

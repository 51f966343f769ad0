import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  choiceParam,
  choicesParam,
  countParam,
  flagParam,
  listParam,
  readParams,
  textParam,
  timeParam,
  writeParams,
} from "./params.ts";

const PAGE = {
  q: textParam,
  from: timeParam,
  status: choicesParam(["none", "failed"] as const),
  sort: choiceParam(["start", "path"] as const, "start"),
  page: countParam(1),
  table: flagParam,
  sel: listParam,
};
const queryOf = (text: string) => Object.fromEntries(new URLSearchParams(text));
const plain = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => text !== "" && !text.includes(","));

test("what a page writes into its address it reads again", () => {
  const values = fc.record(
    {
      q: fc.oneof(fc.constant(""), plain),
      from: fc.constantFrom("", "now-7d", "2026-04-14T03:00:12.000000001Z"),
      status: fc.constantFrom([], ["none"], ["failed", "none"]),
      sort: fc.constantFrom("start", "path"),
      page: fc.integer({ min: 0, max: 1e6 }),
      table: fc.boolean(),
      sel: fc.array(plain, { maxLength: 4 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(values, (given) => {
      const text = writeParams(PAGE, given as never);
      assert.deepEqual(readParams(PAGE, queryOf(text)), { values: given, problems: [] });
    }),
  );
});

test("any address can be read: what means nothing is named, and nothing is ignored in silence", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (query) => {
      const { problems } = readParams(PAGE, query);
      for (const name of Object.keys(query).filter((key) => !Object.hasOwn(PAGE, key)))
        assert.ok(problems.some((problem) => problem.includes(name)));
    }),
  );
  const { values, problems } = readParams(PAGE, { status: "lost", from: "soon", table: "yes", __proto__: "x", q: "" });
  assert.deepEqual([values.status, values.from, values.table, values.q], [[], "", false, ""]);
  assert.equal(problems.length, 3);
});

test("an address names only what is not as usual", () => {
  assert.equal(writeParams(PAGE, { sort: "start", page: 1, table: false, sel: [], q: "" }), "");
  assert.equal(
    writeParams(PAGE, { from: "2026-04-14T03:00:00Z", sel: ["a/b", "c"] }),
    "?from=2026-04-14T03:00:00Z&sel=a/b,c",
  );
});

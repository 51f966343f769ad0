import assert from "node:assert/strict";
import { test } from "node:test";
import { matchTerms, type Searchable } from "./match-terms.ts";
import { printNumber } from "./number-text.ts";
import { parseQuery } from "./terms.ts";

const robot: Searchable = {
  name: "Otto",
  serial: "007",
  speed: 1.5,
  count: 7,
  armed: true,
  tags: ["indoor", "Two words"],
  none: [],
  "*": "star",
};

const cases: [query: string, isMatch: boolean, why: string][] = [
  ["", true, "no term asks for nothing"],
  ["name:Otto", true, "a text compares exactly"],
  ["name:otto", false, "a text compares case-sensitively"],
  ["name:Ott", false, "a part is not the value"],
  ["name:Anna,Otto", true, "any of the values will do"],
  ["name:Otto count:8", false, "all terms must match"],
  ["speed:1.50", true, "numbers compare by value"],
  ["speed:15e-1", true, "numbers may carry an exponent"],
  ["count:007", true, "a number may be written with zeros"],
  ["serial:7", false, "a text of digits is no number"],
  ["serial:007", true, "a text of digits compares as text"],
  ["speed:1e999", false, "what overflows is no number"],
  ["count:0x7", false, "hexadecimal is no number"],
  ['count:" 7"', false, "a number has no spaces"],
  ["armed:true", true, "a boolean compares as its word"],
  ["armed:True", false, "a boolean's word is lower case"],
  ["tags:indoor", true, "a multi-enum matches by any element"],
  ['tags:"Two words"', true, "an element may hold spaces"],
  ["tags:indoor,outdoor", true, "any of the values in any of the elements"],
  ["tags:*", true, "a key is present whatever its value"],
  ["none:*", true, "a key with an empty list is present"],
  ["other:*", false, "a key that is not there is not present"],
  ["*:Otto", true, "a star is any key"],
  ["*:1.50", true, "any key compares numbers by value"],
  ["*:indoor", true, "any key looks into lists"],
  ['"*":star', true, "a quoted star is a key of that name"],
  ['"*":Otto', false, "a quoted star is not any key"],
  ["*:*", true, "any key is present"],
  ["OTT", true, "bare text ignores the case of values"],
  ["PEED", true, "bare text looks into keys"],
  ["wo", true, "bare text looks into elements"],
  ["rue", true, "bare text looks into booleans"],
  ["1.5", true, "bare text looks into numbers"],
  ["1.50", false, "bare text does not compare by value"],
  ["nameOtto", false, "bare text does not cross from key to value"],
  ["indoorTwo", false, "bare text does not cross from element to element"],
];

for (const [query, isMatch, why] of cases)
  test(`${query || "an empty query"}: ${why}`, () => assert.equal(matchTerms(parseQuery(query), robot), isMatch));

const read: [stored: string, asked: string, isMatch: boolean][] = [
  ["1.5", "1.50", true],
  ["1.500", "1.5", true],
  ["7", "7.0", true],
  ["7.0", "7", true],
  ["007", "7", true],
  ["+7", "7", true],
  ["-7.00", "-7", true],
  ["0.5", ".5", true],
  ["1500", "1.5e3", true],
  ["1.5e+3", "1500", true],
  ["1.5", "1.51", false],
  ["7", "-7", false],
  [" 7", "7", false],
  ["0x7", "7", false],
  ["12345678901234567890", "12345678901234567891", false],
];
for (const [stored, asked, isMatch] of read)
  test(`metadata that holds ${stored} ${isMatch ? "matches" : "does not match"} n:${asked}`, () =>
    assert.equal(matchTerms(parseQuery(`n:${asked}`), { n: stored }, { readsNumbers: true }), isMatch));

test("an object without keys matches no term for presence", () =>
  assert.equal(matchTerms(parseQuery("*:*"), {}), false));

test("a number prints without an exponent", () => {
  const printed = [0, -1.5, 1e21, 1.25e22, -1.5e-7, 5e-324].map(printNumber);
  const smallest = `0.${"0".repeat(323)}5`;
  const plain = ["0", "-1.5", "1000000000000000000000", "12500000000000000000000", "-0.00000015", smallest];
  assert.deepEqual(printed, plain);
});

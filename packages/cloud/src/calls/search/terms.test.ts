import assert from "node:assert/strict";
import { test } from "node:test";
import { characterAt, LAST_CHARACTER, propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { ApiError } from "../../core/errors.ts";
import { parseQuery, printQuery, type QuerySyntax, type Term } from "./terms.ts";

const DEVICES = { prefix: "properties." };

const value = (key: string | null, ...values: string[]): Term => ({ kind: "value", key, values });
const present = (key: string | null): Term => ({ kind: "present", key });
const contains = (text: string): Term => ({ kind: "contains", text });

const read: [text: string, terms: Term[], syntax?: QuerySyntax][] = [
  ["", []],
  [" \t\r\n ", []],
  ["key:value", [value("key", "value")]],
  ["key:v1,v2", [value("key", "v1", "v2")]],
  ['key:"v 1",v2,"a,b"', [value("key", "v 1", "v2", "a,b")]],
  ["key:*", [present("key")]],
  ["*:value", [value(null, "value")]],
  ["*:*", [present(null)]],
  ["foo", [contains("foo")]],
  ['"foo: bar"', [contains("foo: bar")]],
  ["  a:b   foo\tc:*  ", [value("a", "b"), contains("foo"), present("c")]],
  ['key:"*"', [value("key", "*")]],
  ['"*":*', [present("*")]],
  ['"*"', [contains("*")]],
  ["key:v*", [value("key", "v*")]],
  ['key:"say \\"hi\\" \\\\o"', [value("key", 'say "hi" \\o')]],
  ["key:C:\\dir", [value("key", "C:\\dir")]],
  ['key:""', [value("key", "")]],
  ['"my key":x', [value("my key", "x")]],
  ["foo,bar", [contains("foo,bar")]],
  ["url:http://host/%2F", [value("url", "http://host/%2F")]],
  ["emoji:🤖 ключ:Ж", [value("emoji", "🤖"), value("ключ", "Ж")]],
  ["a:x\u00a0y", [value("a", "x\u00a0y")]],
  ["properties.a:b properties.c:* foo", [value("a", "b"), present("c"), contains("foo")], DEVICES],
  ["*:value *:*", [value(null, "value"), present(null)], DEVICES],
  ["properties.*:value", [value(null, "value")], DEVICES],
  ['"properties.*":value "properties.a b":c', [value("*", "value"), value("a b", "c")], DEVICES],
  ["properties.properties.a:b", [value("properties.a", "b")], DEVICES],
  ["properties.a", [contains("properties.a")], DEVICES],
  ["properties.a:b", [value("properties.a", "b")]],
];

for (const [text, terms, syntax] of read)
  test(`${JSON.stringify(text)}${syntax ? " of devices" : ""} is parsed`, () => {
    assert.deepEqual(parseQuery(text, syntax), terms);
    assert.deepEqual(parseQuery(printQuery(terms, syntax), syntax), terms);
  });

const long = (count: number, between: string) => Array(count).fill("a").join(between);
const refused: [text: string, sentence: string, syntax?: QuerySyntax][] = [
  ['a "b', "query has a quote that is not closed at character 3"],
  ['🤖 k:"b', "query has a quote that is not closed at character 5"],
  ['k:"b\\"', "query has a quote that is not closed at character 3"],
  ['k:"b\\', 'query has a backslash before neither " nor \\ at character 5'],
  ['k:"b\\n"', 'query has a backslash before neither " nor \\ at character 5'],
  ['k:"b"c', "query has text after a closing quote at character 6"],
  ['"b",c', "query has text after a closing quote at character 4"],
  ['k:"b":c', "query has text after a closing quote at character 6"],
  ['ab"c"', "query has a quote inside a word (quote the whole) at character 3"],
  ['k:a"c"', "query has a quote inside a word (quote the whole) at character 4"],
  ['"a""b"', "query has a quote inside a word (quote the whole) at character 4"],
  [":v", "query has an empty key at character 1"],
  ['a:b "":v', "query has an empty key at character 5"],
  ["k:", "query has an empty value at character 3"],
  ["k: v", "query has an empty value at character 3"],
  ["k:a,,b", "query has an empty value at character 5"],
  ["k:a,", "query has an empty value at character 5"],
  ["k:,a", "query has an empty value at character 3"],
  ['""', "query has an empty term at character 1"],
  ["a *", "query has a * without a value (quote it to search for a star) at character 3"],
  ["k:a,*", "query has a * among values (quote it to search for a star) at character 5"],
  ["a\0", "query has a control character at character 2"],
  ['"a\u001fb"', "query has a control character at character 3"],
  ["a\ud800", "query has a control character at character 2"],
  [long(65, " "), "query has more than 64 terms at character 129"],
  [`k:${long(65, ",")}`, "query has more than 64 values at character 131"],
  ["a".repeat(4097), "query has more than 4096 characters at character 4097"],
  ["a:b", "query has a key that does not begin with properties. at character 1", DEVICES],
  ["properties.:b", "query has an empty key at character 1", DEVICES],
  [":b", "query has an empty key at character 1", DEVICES],
  ["k:", "metadataQuery has an empty value at character 3", { parameter: "metadataQuery" }],
];

for (const [text, sentence, syntax] of refused)
  test(`a 400 says "${sentence}"`, () => {
    assert.throws(
      () => parseQuery(text, syntax),
      (error) => error instanceof ApiError && error.status === 400 && error.message === sentence,
    );
  });

test("64 terms, 64 values and 4096 characters are accepted", () => {
  assert.equal(parseQuery(long(64, " ")).length, 64);
  assert.deepEqual(parseQuery(`k:${long(64, ",")}`), [value("k", ...Array(64).fill("a"))]);
  assert.deepEqual(parseQuery("a".repeat(4096)), [contains("a".repeat(4096))]);
});

const anyCharacter = fc.nat(LAST_CHARACTER).map(characterAt);
const character = fc.oneof(
  fc.constantFrom(..."*:,\"'\\.%_ \t\nabé🤖".split(/(?:)/u)),
  anyCharacter.filter((c) => !/(?![\t\n\r])\p{Cc}/u.test(c)),
);
const text = fc.string({ unit: character, maxLength: 8 });
const someText = fc.string({ unit: character, minLength: 1, maxLength: 8 });
const key = fc.option(someText);
const plainly = { noNullPrototype: true } as const;
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ kind: fc.constant("value"), key, values: fc.array(text, { minLength: 1, maxLength: 4 }) }, plainly),
  fc.record({ kind: fc.constant("present"), key }, plainly),
  fc.record({ kind: fc.constant("contains"), text: someText }, plainly),
);

test("printed terms are read as the same terms", () => {
  fc.assert(
    fc.property(fc.array(term, { maxLength: 12 }), fc.constantFrom("", "properties."), (terms, prefix) => {
      assert.deepEqual(parseQuery(printQuery(terms, { prefix }), { prefix }), terms);
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test("any text is either read, and printed and read again as the same, or refused with a position inside it", () => {
  const anyText = fc.oneof(
    fc.string({ unit: character, maxLength: 40 }),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.string({ maxLength: 40 }),
    fc.string({ unit: fc.constantFrom("a", '"', "\\", ":", ",", "*", " "), maxLength: 400 }),
  );
  fc.assert(
    fc.property(anyText, (raw) => {
      const outcome = readOrRefuse(raw);
      if (typeof outcome !== "number") assert.deepEqual(parseQuery(printQuery(outcome)), outcome);
      else assert.ok(outcome >= 1 && outcome <= [...raw].length + 1);
    }),
    { numRuns: propertyRuns(2000) },
  );
});

function readOrRefuse(raw: string): Term[] | number {
  try {
    return parseQuery(raw);
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === "InvalidRequest");
    const [, position] = /^query has .+ at character (\d+)$/.exec(error.message) ?? [];
    return Number(position);
  }
}

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { pino } from "pino";
import { openDatabase } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { eventWhere, jsonbWhere, metadataRecordsWhere, type Narrowing } from "./jsonb-where.ts";
import { matchTerm, matchTerms, type Searchable } from "./match-terms.ts";
import { parseQuery, printQuery, type Term } from "./terms.ts";

const database = openDatabase(await createTestDatabase({ after }), {
  maxConnections: 1,
  log: pino({ level: "silent" }),
});
after(() => database[Symbol.asyncDispose]());
const { prisma, pool } = database;

await pool.query(`
  CREATE TABLE thing (id int PRIMARY KEY, object jsonb, other jsonb, records jsonb);
  CREATE INDEX thing_object_path ON thing USING gin (object jsonb_path_ops);
  CREATE INDEX thing_object_key ON thing USING gin (object);
  CREATE INDEX thing_object_text ON thing USING gin (lower(object::text) gin_trgm_ops);
  CREATE INDEX thing_object_pairs ON thing USING gin (downlink_letter_pairs(object));
  CREATE INDEX thing_records_path ON thing USING gin (records jsonb_path_ops);
  CREATE INDEX thing_records_text ON thing USING gin (lower(records::text) gin_trgm_ops);
  CREATE INDEX thing_records_pairs ON thing USING gin (downlink_letter_pairs(lower(records::text)))`);

interface Thing {
  readonly object: Searchable;
  readonly other: Searchable;
  readonly records: readonly { name: string; metadata: Searchable }[];
}

const object = Prisma.sql`"thing"."object"`;
const other = Prisma.sql`"thing"."other"`;
const records = Prisma.sql`"thing"."records"`;

/** Leaves nothing of the rows before: dead ones in an index would change what Postgres expects of it. */
async function store(things: readonly Thing[]) {
  const rows = JSON.stringify(things.map((thing, id) => ({ id, ...thing })));
  await prisma.$executeRaw`TRUNCATE thing`;
  await prisma.$executeRaw`INSERT INTO thing SELECT * FROM jsonb_populate_recordset(NULL::thing, ${rows}::jsonb)`;
}

async function idsWhere(condition: Prisma.Sql): Promise<number[]> {
  const rows = await prisma.$queryRaw<{ id: number }[]>`SELECT id FROM thing WHERE ${condition} ORDER BY id`;
  return rows.map((row) => row.id);
}

async function planOf(condition: Prisma.Sql): Promise<string> {
  const rows = await prisma.$queryRaw<{ "QUERY PLAN": string }[]>`EXPLAIN SELECT id FROM thing WHERE ${condition}`;
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

const words = ["a", "b", "mode", "Mode", "a b", "*", "%", "_", "\\", '"', "properties.a", "null", "true", "true false"];
const numberWords = [
  "1.500",
  "15e-1",
  " 1.5",
  "0x7",
  "1e-400",
  "123456789012345",
  "1234567890123456",
  "1.50",
  "1.5",
  "-7",
  "-7.0",
  "007",
  "1e21",
  "1e-7",
  "0",
  "-0",
  "+2",
  "1e999",
  "2.",
  ".5",
];
const hostile = [..."%_\\\"'*:,.;$^()[]{}|+?/-<>&# \t\n\r", ..."aAéÉЖжnu0015ß🤖漢"];
const stored = fc.oneof(
  fc.constantFrom(...words, ...numberWords),
  fc.string({ unit: fc.constantFrom(...hostile, "\u001f", "\u007f", "\u2028"), maxLength: 6 }),
);
const asked = fc.oneof(
  fc.constantFrom(...words, ...numberWords, "MODE", "OD", ", ", '": "', "1.", "5", "ue", "[", "ul", "\\n", "__proto__"),
  fc.string({ unit: fc.constantFrom(...hostile), minLength: 1, maxLength: 3 }),
);
const number = fc.oneof(fc.constantFrom(0, -0, 1.5, -7, 7, 1e21, 1e-7, 2, 0.5, 5e-324, 1e308), fc.integer());
const key = fc.oneof({ arbitrary: fc.constantFrom(...words.slice(0, 6)), weight: 3 }, { arbitrary: stored, weight: 1 });
const property = fc.oneof(stored, number, fc.boolean(), fc.array(stored, { maxLength: 3 }));
const searchable: fc.Arbitrary<Searchable> = fc
  .array(fc.tuple(key, property), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries));
const texts: fc.Arbitrary<Searchable> = fc
  .array(fc.tuple(key, stored), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries));
const thing: fc.Arbitrary<Thing> = fc.record({
  object: searchable,
  other: searchable,
  records: fc.array(fc.record({ name: stored, metadata: texts }), { maxLength: 3 }),
});
const askedKey = fc.option(fc.oneof(fc.constantFrom(...words.slice(0, 6)), asked), { freq: 4 });
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ kind: fc.constant("value"), key: askedKey, values: fc.array(asked, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("present"), key: askedKey }),
  fc.record({ kind: fc.constant("contains"), text: asked }),
);
const terms = fc.array(term, { maxLength: 3 }).map((list) => parseQuery(printQuery(list)));

interface Case {
  readonly where: Prisma.Sql;
  isMatch(thing: Thing): boolean;
}

function casesOf(query: readonly Term[], narrowing: Narrowing): Case[] {
  const inEither = eventWhere({ metadata: object, properties: other }, query, {
    queryFields: ["metadata", "properties"],
    narrowing,
  });
  return [
    { where: jsonbWhere(object, query, { narrowing }), isMatch: (row) => matchTerms(query, row.object) },
    {
      where: jsonbWhere(object, query, { narrowing, readsNumbers: true }),
      isMatch: (row) => matchTerms(query, row.object, { readsNumbers: true }),
    },
    {
      where: metadataRecordsWhere(records, query, narrowing),
      isMatch: (row) =>
        query.length === 0 || row.records.some(({ metadata }) => matchTerms(query, metadata, { readsNumbers: true })),
    },
    {
      where: inEither,
      isMatch: (row) =>
        query.every((each) => matchTerm(each, row.object, { readsNumbers: true }) || matchTerm(each, row.other)),
    },
  ];
}

const RUNS = propertyRuns(24);
const ways: [scan: "on" | "off", narrowing: Narrowing][] = [
  ["on", "trigrams"],
  ["off", "trigrams"],
  ["on", "pairs"],
  ["off", "pairs"],
];
for (const [scan, narrowing] of ways)
  test(`Postgres answers any query like the matcher, with sequential scans ${scan}, narrowed by ${narrowing}`, async () => {
    await prisma.$executeRawUnsafe(`SET enable_seqscan = ${scan}`);
    const batch = fc.tuple(
      fc.array(thing, { minLength: 40, maxLength: 40 }),
      fc.array(terms, { minLength: 40, maxLength: 40 }),
    );
    let matches = 0;
    await fc.assert(
      fc.asyncProperty(batch, async ([things, queries]) => {
        await store(things);
        for (const query of queries)
          for (const { where, isMatch } of casesOf(query, narrowing)) {
            const expected = [...things.entries()].filter(([, row]) => isMatch(row)).map(([id]) => id);
            assert.deepEqual(await idsWhere(where), expected, printQuery(query));
            matches += expected.length;
          }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    assert.ok(matches > 100 * RUNS, `the queries match too little to prove anything: ${matches}`);
  });

test("every form of term is answered by an index", async () => {
  await store([]);
  await prisma.$executeRawUnsafe("SET enable_seqscan = off");
  const plan = (query: string) => planOf(jsonbWhere(object, parseQuery(query)));
  for (const query of ["a:b", "a:b,2,true", "a:-1"])
    assert.match(await plan(query), /on thing_object_(path|key)/, query);
  for (const query of ["a:*", "*:b", "*:-1"]) assert.match(await plan(query), /on thing_object_key/, query);
  for (const query of ["needle", "op-7", "漢字漢"]) assert.match(await plan(query), /on thing_object_text/, query);
  for (const query of ["op", "7", '", "', "%%%%", "🤖"])
    assert.doesNotMatch(await plan(query), /thing_object_text/, query);
  const pairsPlan = (text: string) => planOf(jsonbWhere(object, [{ kind: "contains", text }], { narrowing: "pairs" }));
  for (const text of ["op", "7", '", "', "%%%%", "🤖", "漢字", "'\\"])
    assert.match(await pairsPlan(text), /on thing_object_pairs/, text);
  assert.match(await pairsPlan("needle"), /on thing_object_text/);
  const recordsPlan = (query: string) => planOf(metadataRecordsWhere(records, parseQuery(query)));
  assert.match(await recordsPlan("a:b"), /on thing_records_path/);
  assert.match(await recordsPlan("a:1.5"), /on thing_records_path/);
  assert.match(await recordsPlan("a:b c:d"), /on thing_records_path/);
  for (const query of ["needle", "needle:*"]) assert.match(await recordsPlan(query), /on thing_records_text/, query);
  const recordPairsPlan = (query: string) => planOf(metadataRecordsWhere(records, parseQuery(query), "pairs"));
  for (const query of ["op", "7", "op:*"]) assert.match(await recordPairsPlan(query), /on thing_records_pairs/, query);
});

test("bare text is found inside a key, a value or an element, never across two of them", async () => {
  await store([{ object: { ab: "cd", e: ["fg", "hi"], n: 1.5, line: "x\ny" }, other: {}, records: [] }]);
  const ask = (text: string) => idsWhere(jsonbWhere(object, [{ kind: "contains", text }]));
  for (const text of ["ab", "B", "cd", "FG", "hi", "1.5", "x\ny", "line"]) assert.deepEqual(await ask(text), [0], text);
  const across = ["abcd", "ab\ncd", "ab cd", 'ab": "cd', 'ab"', '"', ", ", "[", '["fg', "fghi", "fg\nhi", "ny", "\\n"];
  for (const text of across) assert.deepEqual(await ask(text), [], text);
});

test("the search text separates keys, values and elements, is lower case, and leaves null out", async () => {
  const stored = JSON.stringify({ Key: "É", list: ["A", "b"], n: 1e21, yes: true, nothing: null, none: [] });
  const [row] = await prisma.$queryRaw<{ text: string }[]>`SELECT downlink_search_text(${stored}::jsonb) AS text`;
  const parts = row?.text.split("\u001f").sort();
  assert.deepEqual(parts, [
    "1000000000000000000000",
    "a",
    "b",
    "key",
    "list",
    "n",
    "none",
    "nothing",
    "true",
    "yes",
    "é",
  ]);
});

test("a recording matches by one of its metadata records, not by two together", async () => {
  const row = (...metadata: Searchable[]) => ({
    object: {},
    other: {},
    records: metadata.map((each) => ({ name: "named", metadata: each })),
  });
  await store([row({ a: "1", b: "2" }), row({ a: "1" }, { b: "2" }), row({ x: "y" }, { b: "2", a: "1" }), row()]);
  const ask = (query: string) => idsWhere(metadataRecordsWhere(records, parseQuery(query)));
  assert.deepEqual(await ask("a:1 b:2"), [0, 2]);
  assert.deepEqual(await ask("a:1 b"), [0, 2]);
  assert.deepEqual(await ask("a b"), [0, 2]);
  assert.deepEqual(await ask("a:*"), [0, 1, 2]);
  for (const text of ["named", "amed", "metadata", "nam", "tad"]) assert.deepEqual(await ask(text), [], text);
  assert.deepEqual(await ask(""), [0, 1, 2, 3]);
  await store([row({ a: "it is named" }), row({ a: "1" }, { mETAdata: "" })]);
  assert.deepEqual([await ask("named"), await ask("metadata"), await ask("tad")], [[0], [1], [1]]);
});

test("terms of an event may match in different fields, and only in the named ones", async () => {
  await store([
    { object: { a: "1" }, other: { b: 2 }, records: [] },
    { object: { a: "1", b: "2" }, other: {}, records: [] },
  ]);
  const columns = { metadata: object, properties: other };
  const ask = (query: string, ...fields: ("metadata" | "properties")[]) =>
    idsWhere(eventWhere(columns, parseQuery(query), { queryFields: fields, narrowing: "trigrams" }));
  assert.deepEqual(await ask("a:1 b:2", "metadata", "properties"), [0, 1]);
  assert.deepEqual(await ask("a:1 b:2", "metadata"), [1]);
  assert.deepEqual(await ask("b:2.0", "properties"), [0]);
  assert.deepEqual(await ask("a:1"), []);
  await prisma.$executeRaw`UPDATE thing SET other = NULL`;
  assert.deepEqual(await ask("b:2", "metadata", "properties"), [1]);
  assert.deepEqual(await ask("*:* 2", "properties", "metadata"), [1]);
});

test("a text with more pairs of letters than a tsvector holds is stored, and found by two of them", async () => {
  const letters = Array.from({ length: 430 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const long = letters.flatMap((one, index) => letters.slice(0, index).flatMap((other) => [one, other])).join("");
  await store([{ object: { long }, other: {}, records: [{ name: "", metadata: { long } }] }]);
  for (const { where } of casesOf(parseQuery(`${letters[7]}${letters[3]}`), "pairs"))
    assert.deepEqual(await idsWhere(where), [0]);
});

test("text beside an escape, or in a null, is found as it was stored", async () => {
  await store([{ object: { a: "x\nyes" }, other: {}, records: [{ name: "", metadata: { a: "x\nyes" } }] }]);
  await prisma.$executeRaw`UPDATE thing SET object = object || '{"b": null}'`;
  const ask = (query: string) =>
    Promise.all(casesOf(parseQuery(query), "trigrams").map(({ where }) => idsWhere(where)));
  assert.ok((await ask("yes")).every((found) => found.length === 1));
  for (const query of ["nyes", "null", "nul"]) assert.deepEqual((await ask(query)).flat(), [], query);
});

test("a query at its limits is answered", async () => {
  await store([{ object: { a: "1999" }, other: {}, records: [{ name: "", metadata: { a: "1999" } }] }]);
  const values = Array.from({ length: 60 }, (_, index) => index + 1940).join(",");
  const query = parseQuery(Array(13).fill(`a:${values}`).join(" "));
  for (const { where } of casesOf(query, "trigrams")) assert.deepEqual(await idsWhere(where), [0]);
  const texts = parseQuery(Array(64).fill("999").join(" "));
  for (const { where } of casesOf(texts, "pairs")) assert.deepEqual(await idsWhere(where), [0]);
  for (const { where } of casesOf(parseQuery("%".repeat(4096)), "pairs")) assert.deepEqual(await idsWhere(where), []);
});

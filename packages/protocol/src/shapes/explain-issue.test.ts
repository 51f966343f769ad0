import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { everyInput, leavesOf } from "../testing/every-input.ts";
import { explainIssue } from "./explain-issue.ts";
import { page } from "./list.ts";
import { QueryBoolean } from "./query.ts";
import { Timestamp } from "./time.ts";

const many = Array.from({ length: 20_000 }, () => "x");
const wrong = [
  ...[undefined, null, "", "x", "%", "..", "\0", "__proto__", "9".repeat(10_000), 0, -1, 1.5, 1e300, true, false],
  ...[Number.NaN, [], {}, [1], [null], [{}], { a: 1 }, { "\0": "x" }, many, 2n],
];
/** Words that only the validator itself uses. */
const foreign =
  /invalid|expected|received|too (small|big)|unrecognized|\b(NaN|undefined|input|record|string|int)\b|[<>]=/i;
const isOurs = (message: string) =>
  !foreign.test(message.replaceAll(/"[^"]*"/g, "")) && /^["a-z].{5,}[^.]$/s.test(message);

/** A text that is a sentence together with the name of its place: `limit must be a whole number`. */
const afterItsPlace = /^(must|may|is|has|cannot be) /;

function issuesOf(schema: z.ZodType): z.core.$ZodIssue[] {
  return wrong.flatMap((value) => schema.safeParse(value, { error: explainIssue }).error?.issues ?? []);
}

test("every refusal of every input is a sentence in this contract's words, which reads on from its place", () => {
  const inputs = [...everyInput()];
  const seen = new Map<string, string>();
  for (const { place, schema } of [...inputs, ...inputs.flatMap((input) => [...leavesOf(input)])])
    for (const { message } of issuesOf(schema)) seen.set(message, place);
  assert.ok(seen.size > 50, `${seen.size} sentences`);
  assert.deepEqual(
    [...seen].filter(([message]) => !isOurs(message)),
    [],
  );
  const ofWhole = new Set(
    inputs.flatMap(({ schema }) => issuesOf(schema).flatMap(({ path, message }) => (path.length === 0 ? message : []))),
  );
  const others = [...seen].filter(([message]) => !ofWhole.has(message) && !afterItsPlace.test(message));
  assert.deepEqual(others, []);
});

const explained = (schema: z.ZodType, value: unknown) =>
  schema
    .safeParse(value, { error: explainIssue })
    .error?.issues.map(({ message }) => message)
    .join("; ");

test("a sentence names what is allowed", () => {
  for (const limit of ["ten", "2001", "-1", "1.5", ""])
    assert.equal(explained(page.limit, limit), "must be a whole number from 0 to 2000");
  assert.equal(explained(z.int().min(1).max(16), "2"), "must be a whole number from 1 to 16");
  assert.equal(explained(z.int().min(1).max(16), 1.5), "must be a whole number from 1 to 16");
  assert.equal(explained(z.int().min(1).max(16), 17), "must be at most 16");
  assert.equal(explained(z.string().min(2), "x"), "must hold at least 2 characters");
  assert.equal(explained(z.string().min(1), ""), "must not be empty");
  assert.equal(explained(z.array(z.string()).max(1), ["a", "b"]), "must hold at most 1 item");
  assert.equal(explained(Timestamp, 1), "must be an RFC 3339 date-time such as 2026-01-02T03:04:05Z");
  assert.equal(explained(Timestamp, undefined), "is required");
  assert.equal(explained(QueryBoolean, "yes"), "must be true or false");
  assert.equal(explained(z.enum(["asc", "desc"]), "up"), 'must be one of "asc", "desc"');
  assert.equal(explained(z.object({ a: z.string() }), {}), "is required");
  assert.equal(explained(z.strictObject({}), { a: 1 }), 'must not have "a"');
  assert.equal(explained(z.union([z.string(), z.boolean()]), 1), "must be a text, or true or false");
});

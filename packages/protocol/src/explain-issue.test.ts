import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { explainIssue } from "./explain-issue.ts";
import { page } from "./shapes/list.ts";
import { everyInput, leavesOf } from "./testing/every-input.ts";

const many = Array.from({ length: 20_000 }, () => "x");
const wrong = [
  ...[undefined, null, "", "x", "%", "..", "\0", "__proto__", "9".repeat(10_000), 0, -1, 1.5, 1e300, true, false],
  ...[Number.NaN, [], {}, [1], [null], [{}], { a: 1 }, { "\0": "x" }, many, 2n],
];
/** The validator's own words. */
const foreign =
  /invalid|expected|received|too (small|big)|unrecognized|\b(NaN|undefined|input|record|string|int)\b|[<>]=/i;
const isOurs = (message: string) =>
  !foreign.test(message.replaceAll(/"[^"]*"/g, "")) && /^["a-z].{5,}[^.]$/s.test(message);

function messagesOf(schema: z.ZodType): string[] {
  return wrong.flatMap((value) => {
    const { error } = schema.safeParse(value, { error: explainIssue });
    return error?.issues.map(({ message }) => message) ?? [];
  });
}

test("every refusal of every input is a sentence of ours", () => {
  const schemas = [...everyInput()].flatMap((input) => [input, ...leavesOf(input)]);
  const seen = new Map<string, string>();
  for (const { place, schema } of schemas) for (const message of messagesOf(schema)) seen.set(message, place);
  assert.ok(seen.size > 50, `${seen.size} sentences`);
  const poor = [...seen].filter(([message]) => !isOurs(message));
  assert.deepEqual(poor, []);
});

const told = (schema: z.ZodType, value: unknown) =>
  schema
    .safeParse(value, { error: explainIssue })
    .error?.issues.map(({ message }) => message)
    .join("; ");

test("a sentence names what is allowed", () => {
  for (const limit of ["ten", "2001", "-1", "1.5", ""])
    assert.equal(told(page.limit, limit), "must be a whole number from 0 to 2000");
  assert.equal(told(z.int().min(1).max(16), "2"), "must be a whole number from 1 to 16");
  assert.equal(told(z.int().min(1).max(16), 1.5), "must be a whole number from 1 to 16");
  assert.equal(told(z.int().min(1).max(16), 17), "must be at most 16");
  assert.equal(told(z.string().min(2), "x"), "must hold at least 2 characters");
  assert.equal(told(z.array(z.string()).max(1), ["a", "b"]), "must hold at most 1 items");
  assert.equal(told(z.enum(["asc", "desc"]), "up"), 'must be one of "asc", "desc"');
  assert.equal(told(z.object({ a: z.string() }), {}), "is required");
  assert.equal(told(z.strictObject({}), { a: 1 }), 'must not have "a"');
  assert.equal(told(z.union([z.string(), z.boolean()]), 1), "must be a text, or must be true or false");
});

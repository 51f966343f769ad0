import assert from "node:assert/strict";
import { test } from "node:test";
import { api, type Operation } from "@downlink/protocol";
import fc from "fast-check";
import { z } from "zod";
import { makeEncoder } from "./encoder.ts";

const RUNS = 40;

const operations = Object.entries(api).flatMap(([resource, contract]) =>
  Object.entries(contract as Record<string, Operation>).map(([name, operation]) => ({
    called: `${resource}.${name}`,
    response: operation.response,
  })),
);

for (const { called, response } of operations)
  if (response)
    test(`${called} encodes answers like its schema, and refuses what the schema refuses`, () => {
      const encode = makeEncoder(response);
      const value = fitting(response);
      fc.assert(
        fc.property(fc.oneof(value, spoiled(value)), (given) => {
          assert.deepEqual(
            outcome(() => encode(given)),
            outcome(() => z.encode(response, given)),
          );
        }),
        { numRuns: RUNS, examples: [[undefined], [null], [[]], [{}]] },
      );
    });

test("most of the tried values fit, and most of the spoiled ones do not: otherwise the property would prove little", () => {
  const count = (kind: "fits" | "spoiled") => {
    const outcomes = operations.flatMap(({ response }) => {
      if (!response) return [];
      const value = fitting(response);
      const tried = fc.sample(kind === "fits" ? value : spoiled(value), { numRuns: 10, seed: 1 });
      return tried.map((given) => "text" in outcome(() => z.encode(response, given)));
    });
    return outcomes.filter((hasText) => hasText).length / outcomes.length;
  };
  assert.ok(count("fits") > 0.8, `of what should fit ${count("fits")} fits`);
  assert.ok(count("spoiled") < 0.6, `of what is spoiled ${count("spoiled")} fits`);
});

test("a nanosecond, the ends of 64 bits, and an absent time are encoded exactly", () => {
  const schema = operations.find(({ called }) => called === "recordings.get")!.response! as z.ZodObject;
  const encode = makeEncoder(schema.pick({ start: true, end: true, importedAt: true }));
  assert.deepEqual(encode({ start: -(2n ** 63n), end: 2n ** 63n - 1n, importedAt: undefined }), {
    start: "1677-09-21T00:12:43.145224192Z",
    end: "2262-04-11T23:47:16.854775807Z",
  });
  assert.throws(() => encode({ start: 1, end: 2n }), z.ZodError);
});

test("a whole number is checked against its bounds, and may equal either of them", () => {
  const schema = z.int().min(-1).max(3);
  const encode = makeEncoder(schema);
  for (const given of [-2, -1, 0, 3, 4, 1.5, Number.NaN, 2 ** 53, "1", 1n, null, undefined])
    assert.deepEqual(
      outcome(() => encode(given)),
      outcome(() => z.encode(schema, given as number)),
    );
});

/** Returns the result as a client would see it. */
function outcome(encode: () => unknown): { readonly text: string | undefined } | { readonly failure: string } {
  try {
    return { text: JSON.stringify(encode()) };
  } catch (error) {
    return { failure: String(error) };
  }
}

/** Generates values for a schema of the contract before they are encoded; nearly all of them fit. */
function fitting(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "string":
      return fittingText(schema as z.ZodString);
    case "number":
      return fittingNumber(schema as z.ZodNumber);
    case "boolean":
      return fc.boolean();
    case "bigint":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case "enum":
    case "literal":
      return fc.constantFrom(...schema._zod.values!);
    case "array":
      return fc.array(fitting(def.element), { maxLength: 3 });
    case "object":
      return fieldsOf(def.shape);
    case "record":
      return fc.dictionary(fc.string(), fitting(def.valueType), { maxKeys: 3 });
    case "optional":
      return fc.option(fitting(def.innerType), { nil: undefined });
    case "nullable":
      return fc.option(fitting(def.innerType), { nil: null });
    case "default":
      return fitting(def.innerType);
    case "union":
      return fc.oneof(...def.options.map(fitting));
    case "pipe":
      return fitting(def.out);
    case "unknown":
    case "lazy":
      return fc.jsonValue();
    default:
      throw new Error(`the test makes no values for ${def.type}`);
  }
}

function fittingText({ _zod: { def }, minLength }: z.ZodString): fc.Arbitrary<string> {
  const pattern = [def, ...(def.checks ?? []).map((check) => check._zod.def)].flatMap((one) => patternOf(one))[0];
  if (pattern?.source.includes("(?!")) return fc.stringMatching(/^[a-z]{1,9}$/); // fast-check generates no texts for patterns that look ahead
  return pattern
    ? fc.stringMatching(pattern)
    : fc.string({ minLength: minLength ?? 0, maxLength: (minLength ?? 0) + 10 });
}

function patternOf(check: object): RegExp[] {
  return "pattern" in check && check.pattern instanceof RegExp ? [check.pattern] : [];
}

function fittingNumber({ isInt, minValue, maxValue }: z.ZodNumber): fc.Arbitrary<number> {
  if (!isInt) return fc.double({ noNaN: true, noDefaultInfinity: true, min: minValue ?? -1e9, max: maxValue ?? 1e9 });
  return fc.integer({ min: Math.max(minValue ?? -9, -9), max: Math.min(maxValue ?? 99, 99) });
}

/** Some optional fields are absent, some are undefined, and one may be unknown to the schema. */
function fieldsOf(shape: z.core.$ZodShape): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, fitting(schema)]));
  const requiredKeys: string[] = Object.keys(shape).filter((name) => shape[name]!._zod.optin === undefined);
  return fc.record<Record<string, unknown>, string>({ ...fields, unknownToTheSchema: fc.integer() }, { requiredKeys });
}

/** Puts another value at one place. */
function spoiled(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const odd = fc.constantFrom<unknown>(null, undefined, Number.NaN, -1, 1.5, 1n, "", "x", true, [], {}, new Date(0));
  return fc.tuple(value, fc.nat(), odd).map(([whole, place, other]) => replaceAt(whole, place, other));
}

function replaceAt(value: unknown, place: number, other: unknown): unknown {
  if (typeof value !== "object" || value === null) return other;
  const names = Object.keys(value);
  if (names.length === 0) return other;
  const name = names[place % names.length]!;
  const inner = replaceAt((value as Record<string, unknown>)[name], Math.floor(place / names.length), other);
  return Array.isArray(value) ? value.with(Number(name), inner) : { ...value, [name]: inner };
}

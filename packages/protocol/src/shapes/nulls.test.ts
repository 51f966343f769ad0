import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { everyInput } from "../testing/every-input.ts";
import { withoutNulls } from "./nulls.ts";
import { withAliases } from "./query.ts";

const Body = z.object({
  required: z.string(),
  optional: withAliases(z.string().optional(), ["op"]),
  withDefault: z.number().default(1),
  cleared: z.string().nullable().optional(),
  opaque: z.unknown(),
  items: z.array(z.object({ optional: z.string().optional(), cleared: z.string().nullish() })).optional(),
  inner: z.object({ optional: z.string().optional() }).optional(),
});

test("null is treated as absent if it has no meaning of its own, at any depth, and under a field's other names", () => {
  const body = {
    ...{
      required: null,
      optional: null,
      op: null,
      withDefault: null,
      cleared: null,
      opaque: { a: null },
      unknown: null,
    },
    ...{ items: [{ optional: null, cleared: null }, null], inner: { optional: null } },
  };
  assert.deepEqual(withoutNulls(Body, body), {
    ...{
      required: null,
      cleared: null,
      opaque: { a: null },
      unknown: null,
      items: [{ cleared: null }, null],
      inner: {},
    },
  });
});

test("a value that is no object is left as it is", () => {
  for (const given of [null, 1, "a", []]) assert.equal(withoutNulls(z.object({ a: z.string() }), given), given);
});

test("no operation refuses null for an optional field of its body", () => {
  for (const { place, schema } of everyInput()) {
    const fields = Object.entries((schema as z.ZodObject).shape) as [string, z.ZodType][];
    for (const [name] of fields.filter(([, field]) => field.safeParse(undefined).success)) {
      const { error } = schema.safeParse(withoutNulls(schema, { [name]: null }));
      assert.ok(!error?.issues.some(({ path }) => path[0] === name), `${place}${name}`);
    }
  }
});

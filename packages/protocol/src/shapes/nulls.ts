import type { z } from "zod";
import { aliasesOf } from "./query.ts";

type Definition = z.core.$ZodTypes["_zod"]["def"];

/**
 * Returns a body without the nulls that have no meaning: an optional field for which null has no meaning of its own counts as absent. spec:
 * wire contract §1
 */
export function withoutNulls(schema: z.ZodType, given: unknown): unknown {
  const { def } = schema._zod as unknown as { def: Definition };
  if (def.type === "object" && isObject(given)) return fieldsWithoutNulls(schema as z.ZodObject, given);
  if (def.type === "array" && Array.isArray(given))
    return given.map((item) => withoutNulls(def.element as z.ZodType, item));
  return "innerType" in def ? withoutNulls(def.innerType as z.ZodType, given) : given;
}

function fieldsWithoutNulls({ shape }: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const kept = { ...given };
  for (const [name, field] of Object.entries(shape) as [string, z.ZodType][])
    for (const key of [name, ...aliasesOf(field)]) {
      if (!Object.hasOwn(given, key)) continue;
      if (given[key] === null && saysNothing(field)) delete kept[key];
      else kept[key] = withoutNulls(field, given[key]);
    }
  return kept;
}

function saysNothing(field: z.ZodType): boolean {
  return !field.safeParse(null).success && field.safeParse(undefined).success;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

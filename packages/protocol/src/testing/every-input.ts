import type { z } from "zod";
import { api } from "../api.ts";
import type { Operation } from "../operations/operation.ts";

/** A schema of the contract's input. */
export interface Place {
  /** Operation and field. */
  readonly place: string;
  readonly schema: z.ZodType;
}

/** Yields the params, the query and the body of every operation. */
export function* everyInput(): Generator<Place> {
  for (const [resource, contract] of Object.entries(api))
    for (const [name, { params, query, body }] of Object.entries(contract as Record<string, Operation>))
      for (const schema of [params, query, body]) if (schema) yield { place: `${resource}.${name} `, schema };
}

type Definition = z.core.$ZodTypes["_zod"]["def"];

/** Yields all parts of a schema that are no object or list of others. */
export function* leavesOf({ place, schema }: Place): Generator<Place> {
  const { def } = schema._zod as unknown as { def: Definition };
  if (def.type === "object")
    for (const [name, field] of Object.entries(def.shape)) {
      const dot = place.endsWith(" ") ? "" : ".";
      yield* leavesOf({ place: `${place}${dot}${name}`, schema: field as z.ZodType });
    }
  else if (def.type === "array") yield* leavesOf({ place, schema: def.element as z.ZodType });
  else if (def.type === "union")
    for (const option of def.options) yield* leavesOf({ place, schema: option as z.ZodType });
  else if ("innerType" in def) yield* leavesOf({ place, schema: def.innerType as z.ZodType });
  else yield { place, schema };
}

import type { z } from "zod";
import { aliasesOf } from "./query.ts";

/** A day as `2026-11-21`. It begins at midnight in UTC. */
export type Day = `${number}-${number}-${number}`;

/** The first version had all aliases, and deprecated them. */
const ALIASES_SINCE: Day = "2026-11-21";

/** Marks a parameter, or a field of a body, as deprecated since that day. Calls that give it are answered with the day. */
export function deprecate<S extends z.ZodType>(schema: S, since: Day): S {
  return schema.meta({ ...schema.meta(), deprecated: true, deprecatedSince: since }) as S;
}

/** Returns the day since which a name in a query or a body is deprecated; undefined if it is not. */
export function deprecatedSince({ shape }: z.ZodObject, name: string): Day | undefined {
  if (Object.hasOwn(shape, name)) return (shape[name] as z.ZodType).meta()?.deprecatedSince as Day | undefined;
  return namesOf({ shape }).includes(name) ? ALIASES_SINCE : undefined;
}

/** Returns all names that a query or a body knows: those of its fields, and their aliases. */
export function namesOf({ shape }: Pick<z.ZodObject, "shape">): string[] {
  return Object.entries(shape).flatMap(([name, field]) => [name, ...aliasesOf(field as z.ZodType)]);
}

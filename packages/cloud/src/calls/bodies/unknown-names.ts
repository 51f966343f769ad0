// Clients send fields that a service does not know, so these are ignored and named in a header. A body that opens or removes something is
// refused instead: with `projectIDs` misspelt, an API key would open every project.

import { type AuditedKind, namesOf, type Operation } from "@downlink/protocol";
import { z } from "zod";
import { invalidAt } from "../../core/errors.ts";
import { nearestName } from "../../core/nearest-name.ts";

const MOST_NAMED = 20;
const MOST_CHARACTERS = 100;

/** The kinds of things that open or remove something, or decide about it. */
const exactKinds: ReadonlySet<AuditedKind> = new Set([
  "agentSettings",
  "apiKey",
  "deviceToken",
  "inboxToken",
  "ingestPathPolicy",
  "invitation",
  "member",
  "site",
  "siteToken",
  "webhook",
]);

/** Refuses unknown names in a body that has to be exact. */
export function refuseUnknown({ audits, body }: Operation, given: Record<string, unknown>): void {
  if (!body || audits === undefined || !exactKinds.has(audits)) return;
  const unknown = [...unknownIn(body, given, "")];
  if (unknown.length === 0) return;
  throw invalidAt(
    unknown.map(({ path, nearest }) => ({
      path,
      message: nearest === undefined ? "is not known" : `is not known; did you mean ${nearest}?`,
    })),
  );
}

/** Lists the names of a query or body that nothing reads, as the header shows them: some of many, and shortened. */
export function listIgnored(schema: z.ZodObject, given: Record<string, unknown>): string[] {
  const names = Object.keys(given);
  if (names.every((name) => Object.hasOwn(schema.shape, name))) return []; // almost every request has no other names
  const known = namesOf(schema);
  const ignored = names.filter((name) => name !== "" && !known.includes(name)).slice(0, MOST_NAMED);
  return ignored.map((name) => encodeURIComponent(name.toWellFormed().slice(0, MOST_CHARACTERS).toWellFormed()));
}

interface Unknown {
  readonly path: string;
  readonly nearest: string | undefined;
}

/** Looks into objects within objects and lists, but not into an object whose fields may have any names. */
function* unknownIn(schema: z.core.$ZodType, value: unknown, path: string): Generator<Unknown, void> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* unknownIn(inner.element, item, `${path}${index}.`);
    return;
  }
  if (!(inner instanceof z.ZodObject) || inner.def.catchall || typeof value !== "object" || value === null) return;
  const known = namesOf(inner);
  for (const [name, item] of Object.entries(value))
    if (Object.hasOwn(inner.shape, name)) yield* unknownIn(inner.shape[name]!, item, `${path}${name}.`);
    else if (!known.includes(name)) yield { path: `${path}${name}`, nearest: nearestName(name, known) };
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapper ? unwrap(schema.def.innerType) : schema;
}

import { z } from "zod";
import { aliasesOf } from "../shapes/query.ts";

export type Json = Record<string, unknown>;

/** The annotations of fields that are for the code alone. */
const ANNOTATIONS = new Set(["aliases", "deprecatedSince"]);

export const COMPONENTS = "#/components/schemas/";

/** Returns the wire side of a schema. A part that has an id is moved to the components. */
export function wire(schema: z.ZodType, schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...described
  } = z.toJSONSchema(schema, { io: "input", target: "draft-2020-12", override: nameDefault }) as Json & {
    $defs?: Json;
  };
  for (const [id, definition] of Object.entries($defs)) schemas[id] = relink(definition);
  return relink(described);
}

/** Returns the wire side of a body, with the former names of its fields, which callers may still use. */
export function wireBody(body: z.ZodObject, schemas: Json): Json {
  const { properties, ...schema } = wire(body, schemas);
  const fields = properties as Record<string, Json>;
  const former = Object.entries(body.shape).flatMap(([name, field]) =>
    aliasesOf(field as z.ZodType).map((alias) => [alias, { ...fields[name], ...formerName(name) }]),
  );
  return { ...schema, properties: { ...fields, ...Object.fromEntries(former) } };
}

/** Describes a field or parameter that has another name now. */
export function formerName(name: string): Json {
  return { deprecated: true, description: `Use \`${name}\`` };
}

/** Zod names no default of a value that has another type on the wire. A number stands in a query as such. */
function nameDefault({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void {
  if (!(zodSchema instanceof z.ZodDefault)) return;
  const { innerType, defaultValue } = zodSchema.def;
  const isNumber = jsonSchema.type === "integer" || jsonSchema.type === "number";
  jsonSchema.default = isNumber ? defaultValue : z.encode(innerType as z.ZodType, defaultValue);
}

/** Makes references into a schema's own definitions references into the document, and drops our own annotations. */
function relink(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (ANNOTATIONS.has(key) ? undefined : inner)).replaceAll(
      "#/$defs/",
      COMPONENTS,
    ),
  ) as Json;
}

export function jsonContent(schema: Json, example: unknown): Json {
  return { "application/json": { schema, example } };
}

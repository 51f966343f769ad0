import { z } from "zod";

export type Json = Record<string, unknown>;

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
    JSON.stringify(value, (key, inner: unknown) => (key === "aliases" ? undefined : inner)).replaceAll(
      "#/$defs/",
      COMPONENTS,
    ),
  ) as Json;
}

export function jsonContent(schema: Json, example: unknown): Json {
  return { "application/json": { schema, example } };
}

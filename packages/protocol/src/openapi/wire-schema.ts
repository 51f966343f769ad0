import { z } from "zod";

export type Json = Record<string, unknown>;

export const COMPONENTS = "#/components/schemas/";

/** Returns the wire side of a schema. A part that has an id is moved to the components. */
export function wire(schema: z.ZodType, schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...described
  } = z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" }) as Json & { $defs?: Json };
  for (const [id, definition] of Object.entries($defs)) schemas[id] = relink(definition);
  return relink(described);
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

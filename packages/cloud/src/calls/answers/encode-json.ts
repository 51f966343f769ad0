import { z } from "zod";

/** Writes a value as the JSON that clients get. Throws a `ZodError` if it does not fit the schema. */
export function encodeJson(schema: z.ZodType, value: unknown): string {
  return JSON.stringify(z.encode(schema, value));
}

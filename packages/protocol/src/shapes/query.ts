import { z } from "zod";
import { StorableText } from "./text.ts";

/** Values in a query string are text; these codecs give them their types in code. */

export function queryInteger(range: Range) {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  return z.codec(z.string().meta({ type: "integer", minimum: min, maximum: max }), z.int().min(min).max(max), {
    decode: (text, payload) => {
      const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
      return within(range, value) ? value : refuse(payload, `must be a whole number ${named(range)}`);
    },
    encode: String,
  });
}

export function queryNumber({ min, max }: { min: number; max: number }) {
  return z.codec(z.string().meta({ type: "number", minimum: min, maximum: max }), z.number().min(min).max(max), {
    decode: (text, payload) => {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      return within({ min, max }, value) ? value : refuse(payload, `must be a number ${named({ min, max })}`);
    },
    encode: String,
  });
}

interface Range {
  readonly min: number;
  readonly max?: number;
}

function within({ min, max = Number.MAX_SAFE_INTEGER }: Range, value: number): boolean {
  return value >= min && value <= max;
}

function named({ min, max }: Range): string {
  return max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
}

function refuse(payload: z.core.ParsePayload<string>, message: string): never {
  payload.issues.push({ code: "custom", input: payload.value, message });
  return z.NEVER;
}

export const QueryBoolean = z.codec(z.enum(["true", "false"], "must be true or false"), z.boolean(), {
  decode: (text) => text === "true",
  encode: (value) => (value ? "true" : "false"),
});

/** A list that is repeated (`a=1&a=2`), comma-separated (`a=1,2`) or indexed (`a/0=1&a/1=2`, which is folded before this is reached). */
export function queryArray<const T extends readonly [string, ...string[]]>(values: T) {
  const text = z.string().meta({ enum: [...values] });
  return z.codec(z.union([text, z.array(text)]), z.array(z.enum(values)), {
    decode: (given) => [given].flat().flatMap((text) => text.split(",")) as T[number][],
    encode: (list) => [...list],
  });
}

/** A {@link queryArray} of any texts. */
export const QueryTexts = z.codec(z.union([z.string(), z.array(z.string())]), z.array(StorableText), {
  decode: (given) => [given].flat().flatMap((text) => text.split(",")),
  encode: (list) => [...list],
});

/** Declares deprecated other names of a field. The plain name wins if both are given. spec: Common list conventions */
export function withAliases<S extends z.ZodType>(schema: S, aliases: readonly string[]): S {
  return schema.meta({ ...schema.meta(), aliases }) as S;
}

/** Fills each absent field from the first of its aliases that is present. Answers the same object if none is. */
export function foldAliases(shape: z.ZodObject["shape"], given: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(given).every((name) => name in shape)) return given; // almost every request has no other names
  let folded = given;
  for (const [name, schema] of Object.entries(shape)) {
    if (given[name] !== undefined) continue;
    const alias = aliasesOf(schema as z.ZodType).find((other) => given[other] !== undefined);
    if (alias !== undefined) folded = { ...folded, [name]: given[alias] };
  }
  return folded;
}

export function aliasesOf(schema: z.ZodType): readonly string[] {
  return (schema.meta()?.aliases as readonly string[] | undefined) ?? [];
}

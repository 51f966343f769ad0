import { z } from "zod";
import { explainIssue } from "./explain-issue.ts";

type ByKey<V> = Record<string, V>;
type Texts = ByKey<string>;

/** An object of any keys, as it is. `z.record` is not used, because it drops the key `__proto__` silently. */
export function anyKeys<V>({ $schema: _, ...values }: Record<string, unknown>): z.ZodType<ByKey<V>, ByKey<V>> {
  const wire = z.unknown().meta({ type: "object", additionalProperties: values });
  return wire.refine(isObject, { error: "must be an object", abort: true }) as z.ZodType as z.ZodType<
    ByKey<V>,
    ByKey<V>
  >;
}

/** A JSON object of any content. */
export const AnyObject = anyKeys<unknown>({});

/** Texts by any key, in an answer. They were checked when they came in. */
export const StoredTexts = anyKeys<string>({ type: "string" });

/** Texts by any key. Both have the given schema. */
export function textsByKey(text: z.ZodType<string, string>) {
  return z.codec(StoredTexts, StoredTexts, {
    decode: (given, payload) => convert(given, payload.issues, (one) => text.safeDecode(one, { error: explainIssue })),
    encode: (given, payload) => convert(given, payload.issues, (one) => text.safeEncode(one, { error: explainIssue })),
  });
}

type Issues = z.core.ParsePayload["issues"];

/** If thousands of texts are wrong, only the first ones are reported, because a wrong one takes a hundred times as long as a right one. */
const MOST_FAULTS = 100;

function convert(given: Texts, issues: Issues, read: (text: string) => z.ZodSafeParseResult<string>): Texts {
  const entries: [string, string][] = [];
  for (const [name, value] of Object.entries(given)) {
    if (issues.length >= MOST_FAULTS) break;
    const [key, text] = [read(name), read(value)];
    for (const { error } of [key, text])
      for (const issue of error?.issues ?? [])
        issues.push({ ...issue, input: value, path: [name, ...issue.path] } as Issues[number]);
    entries.push([key.data!, text.data!]);
  }
  return Object.fromEntries(entries);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

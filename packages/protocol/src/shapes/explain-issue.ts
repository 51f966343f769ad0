import type { z } from "zod";

type RawIssue = z.core.$ZodRawIssue;
type Explain<C extends RawIssue["code"]> = (issue: Extract<RawIssue, { code: C }>) => string;

/**
 * Answers what is wrong with a value, as a sentence about its place that says what is allowed: `must be a text`. It is used as a schema's
 * `error`.
 */
export function explainIssue(issue: RawIssue): string | undefined {
  const explain = sentences[issue.code as keyof typeof sentences] as ((issue: RawIssue) => string) | undefined;
  return explain?.(issue);
}

const sentences = {
  invalid_type: explainType,
  invalid_value: ({ values }) => `must be ${oneOf(values)}`,
  too_small: ({ origin, minimum }) =>
    hasLength(origin) && minimum === 1 ? "must not be empty" : `must ${extent(origin, minimum, "least")}`,
  too_big: ({ origin, maximum }) => `must ${extent(origin, maximum, "most")}`,
  invalid_format: explainFormat,
  unrecognized_keys: ({ keys }) => `must not have ${keys.map(quote).join(", ")}`,
  invalid_union: explainUnion,
  invalid_key: ({ issues }) => `has a name that ${issues[0]!.message}`,
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
} satisfies { readonly [C in RawIssue["code"]]?: Explain<C> };

const MUST_BE = "must be ";
const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function explainType({ expected, input, inst }: Extract<RawIssue, { code: "invalid_type" }>): string {
  if (input === undefined) return "is required";
  const { format, minValue = null, maxValue = null } = inst as unknown as Partial<z.ZodNumber>;
  const kind = kinds[format === "safeint" ? "int" : expected] ?? expected;
  const isRange = minValue !== null && maxValue !== null && maxValue < Number.MAX_SAFE_INTEGER;
  return `must be ${kind}${isRange ? ` from ${minValue} to ${maxValue}` : ""}`;
}

function extent(origin: string, limit: number | bigint, end: "least" | "most"): string {
  if (!hasLength(origin)) return `be at ${end} ${limit}`;
  const unit = origin === "string" ? "character" : "item";
  return `hold at ${end} ${limit} ${unit}${Number(limit) === 1 ? "" : "s"}`;
}

function hasLength(origin: string): boolean {
  return origin === "string" || origin === "array";
}

function explainFormat({ format, pattern }: Extract<RawIssue, { code: "invalid_format" }>): string {
  if (format === "url") return "must be a URL such as https://downlink.example";
  if (format === "base64") return "must be base 64";
  return `must match ${pattern ?? format}`;
}

/** Explains what each of the alternatives asks for. If they differ by one field, it explains what that field may be. */
function explainUnion({ errors, options }: UnionIssue): string {
  if (options?.length) return `must be ${oneOf(options)}`;
  const messages = [...new Set(errors.flatMap((issues) => issues.slice(0, 1).map(({ message }) => message)))];
  const [first = "", ...others] = messages;
  if (!messages.every((message) => message.startsWith(MUST_BE))) return messages.join(", or ");
  return [first, ...others.map((message) => message.slice(MUST_BE.length))].join(", or ");
}

type UnionIssue = Extract<RawIssue, { code: "invalid_union" }> & { readonly options?: readonly unknown[] };

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? quote(values[0]) : `one of ${values.map(quote).join(", ")}`;
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}

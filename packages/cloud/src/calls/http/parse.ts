import { explainIssue, foldAliases, MAX_QUERY_PARAMETERS, type Operation, withoutNulls } from "@downlink/protocol";
import type { Context } from "hono";
import type { z } from "zod";
import { ApiError, invalidRequest } from "../../core/errors.ts";
import type { Ctx } from "../context/context.ts";
import { computeInTurn } from "./compute-in-turn.ts";
import type { Env } from "./env.ts";
import { readJsonText } from "./json-body.ts";
import { noteIgnored, refuseUnknown } from "./unknown-names.ts";

/** So many characters of a wrong value stand in its refusal. */
const MOST_SHOWN = 50;

const INDEXED = /^(.+)\/\d+$/;

/** A body below this size takes a millisecond or so. */
const LARGE_CHARACTERS = 64 * 1024;

/**
 * Returns path, query and body of a request in one object, decoded by the operation's schemas; throws a 400 that names each error. With a
 * context, large bodies are parsed by turns.
 */
export async function parseInput(
  c: Context<Env>,
  operation: Operation,
  ctx?: Pick<Ctx, "turns" | "caller">,
): Promise<Record<string, unknown>> {
  const text = operation.body ? await readJsonText(c, operation) : "";
  const parse = () => parseWithBody(c, operation, text);
  return ctx && isLarge(operation, text) ? computeInTurn(c, ctx, parse) : parse();
}

/** Says whether parsing it holds up other calls. An ordinary body has few values. */
export function isLarge({ bodySize }: Operation, bodyText: string): boolean {
  return bodySize === "large" && bodyText.length >= LARGE_CHARACTERS;
}

/** Does what {@link parseInput} does, for a caller that keeps the body's own text as well. */
export function parseWithBody(c: Context, operation: Operation, bodyText: string): Record<string, unknown> {
  const params = operation.params ? decode(operation.params, c.req.param()) : {};
  const query = operation.query
    ? decodeQuery(operation.query, noteGiven(c, operation.query, readQuery(c.req.url)))
    : {};
  const body = operation.body ? decode(operation.body, checkBody(c, operation, bodyText)) : {};
  return { ...body, ...query, ...(operation.body && operation.query && listsOfBoth(body, query)), ...params };
}

function checkBody(c: Context, operation: Operation, text: string): Record<string, unknown> {
  const given = readBody(operation.body!, text);
  refuseUnknown(operation, given);
  return noteGiven(c, operation.body!, given);
}

function noteGiven(c: Context, schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  noteIgnored(c, schema, given);
  return given;
}

/** The path overrides the query, and the query overrides the body; a list that stands in both is one list. */
function listsOfBoth(body: Record<string, unknown>, query: Record<string, unknown>): Record<string, unknown> {
  const lists = Object.entries(query).flatMap(([name, value]) => {
    const inBody = body[name];
    return Array.isArray(value) && Array.isArray(inBody) ? [[name, [...inBody, ...value]] as const] : [];
  });
  return Object.fromEntries(lists);
}

/** A query has no places within its values: a wrong one is named by its parameter, and by itself where that has several. */
function decodeQuery(schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const parsed = schema.safeParse(foldAliases(schema.shape, given), { error: explainIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest({ issues: parsed.error.issues.map((issue) => ({ ...issue, ...nameInQuery(issue, given) })) });
}

function nameInQuery({ path, message }: z.core.$ZodIssue, given: Record<string, unknown>) {
  const [name, at] = path;
  const values = given[String(name)];
  if (!Array.isArray(values)) return { path: path.slice(0, 1), message };
  if (typeof at !== "number") return { path, message: "must be given once" };
  return { path: [name!], message: `${message}, which "${String(values[at]).slice(0, MOST_SHOWN)}" is not` };
}

function decode(schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const parsed = schema.safeParse(foldAliases(schema.shape, given), { error: explainIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error);
}

/** Repeated names become arrays, and so do indexed ones (`a/0=1&a/1=2`). */
export function readQuery(url: string): Record<string, string | string[]> {
  if (!url.includes("?")) return {};
  const found = new Map<string, string[]>();
  const { searchParams } = new URL(url);
  if (searchParams.size > MAX_QUERY_PARAMETERS) throw newTooManyParametersError();
  for (const [name, value] of searchParams) {
    const plain = INDEXED.exec(name)?.[1] ?? name;
    const values = found.get(plain);
    if (values) values.push(value);
    else found.set(plain, [value]);
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]));
}

function newTooManyParametersError(): ApiError {
  const message = `a query may have at most ${MAX_QUERY_PARAMETERS} parameters`;
  return new ApiError("InvalidRequest", message);
}

function readBody(schema: z.ZodObject, text: string): Record<string, unknown> {
  const given = parseBody(text);
  return text.includes("null") ? (withoutNulls(schema, given) as Record<string, unknown>) : given;
}

/** An empty body counts as `{}`. */
function parseBody(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ApiError("MalformedJson", `the body is not JSON: ${(error as SyntaxError).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ApiError("InvalidRequest", "the body must be a JSON object");
}

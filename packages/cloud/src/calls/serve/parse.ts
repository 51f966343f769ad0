import {
  DEPRECATION_HEADER,
  deprecationOf,
  explainIssue,
  foldAliases,
  IGNORED_HEADER,
  MAX_QUERY_PARAMETERS,
  type Operation,
} from "@downlink/protocol";
import type { Context } from "hono";
import type { z } from "zod";
import { ApiError, invalidRequest } from "../../core/errors.ts";
import { type BodyOperation, type DecodedBody, decode, decodeBody, type ReceivedBody } from "../bodies/decode-body.ts";
import { listIgnored } from "../bodies/unknown-names.ts";
import type { Env } from "../connections/env.ts";
import { callerToken } from "../connections/in-turn.ts";
import { newGoneSignal } from "../connections/new-gone-signal.ts";
import type { Ctx } from "../context/context.ts";
import { readJsonBytes } from "./json-body.ts";

/** So many characters of a wrong value stand in its refusal. */
const MOST_SHOWN = 50;

const INDEXED = /^(.+)\/\d+$/;

/** A body below this size takes a millisecond or so. */
const LARGE_BYTES = 64 * 1024;

/**
 * Returns path, query and body of a request in one object, decoded by the operation's schemas; throws a 400 that names each error. With a
 * context, large bodies are decoded in a thread, one at a time, organization by organization: other calls are answered meanwhile.
 */
export async function parseInput(
  c: Context<Env>,
  operation: Operation,
  ctx?: Pick<Ctx, "turns" | "caller" | "bodies">,
): Promise<Record<string, unknown>> {
  const bytes = hasBody(operation) ? await readJsonBytes(c, operation) : undefined;
  const params = operation.params ? decode(operation.params, c.req.param()) : {};
  const given = operation.query ? readQuery(c.req.url) : {};
  const names = { query: Object.keys(given), body: [] as readonly string[] };
  noteDeprecated(c, operation, names);
  const query = operation.query ? parseQuery(c, operation.query, given) : {};
  if (!hasBody(operation)) return { ...query, ...params };
  const body = await parseBody(c, ctx, { operation, bytes: bytes! });
  noteDeprecated(c, operation, { ...names, body: body.names });
  return { ...body.fields, ...query, ...(operation.query && listsOfBoth(body.fields, query)), ...params };
}

function hasBody(operation: Operation): operation is BodyOperation {
  return operation.body !== undefined;
}

async function parseBody(
  c: Context<Env>,
  ctx: Parameters<typeof parseInput>[2],
  sent: ReceivedBody,
): Promise<DecodedBody> {
  const { operation, bytes } = sent;
  const isLarge = ctx !== undefined && operation.bodySize === "large" && bytes.length >= LARGE_BYTES;
  const decoded = isLarge ? await decodeInTurn(c, ctx, sent) : decodeBody(sent);
  noteIgnored(c, decoded.ignored);
  return decoded;
}

async function decodeInTurn(
  c: Context<Env>,
  { turns, caller, bodies }: Pick<Ctx, "turns" | "caller" | "bodies">,
  sent: ReceivedBody,
): Promise<DecodedBody> {
  const taker = { owner: caller.orgId, token: callerToken(caller) };
  using _turn = await turns.bodies.take(taker, () => newGoneSignal(c));
  return await bodies.decode(sent);
}

/** Adds the names that nothing reads to the header of the answer. */
function noteIgnored(c: Context, names: readonly string[]): void {
  if (names.length > 0) c.header(IGNORED_HEADER, names.join(", "), { append: true });
}

/** Names the day since which something that the call uses is deprecated. */
function noteDeprecated(c: Context, operation: Operation, given: Parameters<typeof deprecationOf>[1]): void {
  const since = deprecationOf(operation, given);
  if (since !== undefined) c.header(DEPRECATION_HEADER, since);
}

function parseQuery(c: Context, schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  noteIgnored(c, listIgnored(schema, given));
  return decodeQuery(schema, given);
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

import { foldAliases, type Operation } from "@downlink/protocol";
import type { Context } from "hono";
import type { z } from "zod";
import { ApiError, invalidRequest } from "./errors.ts";

const MAX_JSON_BYTES = 4 * 1024 * 1024;
const INDEXED = /^(.+)\/\d+$/;

/** Path, query and body of a request in one object, decoded by the operation's schemas; throws a 400 that names each fault. */
export async function parseInput(c: Context, operation: Operation): Promise<Record<string, unknown>> {
  return parseWithBody(c, operation, operation.body ? await readBodyText(c) : "");
}

/** As {@link parseInput}, for who keeps the body's own text as well. */
export function parseWithBody(c: Context, operation: Operation, bodyText: string): Record<string, unknown> {
  const query = operation.query ? decode(operation.query, readQuery(c.req.url)) : {};
  const body = operation.body ? decode(operation.body, parseBody(bodyText)) : {};
  const params = operation.params ? decode(operation.params, c.req.param()) : {};
  return { ...body, ...query, ...listsOfBoth(body, query), ...params };
}

/** The path beats the query, and the query the body; a list that stands in both is one list. */
function listsOfBoth(body: Record<string, unknown>, query: Record<string, unknown>): Record<string, unknown> {
  const lists = Object.entries(query).flatMap(([name, value]) => {
    const inBody = body[name];
    return Array.isArray(value) && Array.isArray(inBody) ? [[name, [...inBody, ...value]] as const] : [];
  });
  return Object.fromEntries(lists);
}

function decode(schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const parsed = schema.safeParse(foldAliases(schema.shape, given));
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error);
}

/** Repeated names become arrays, and so do indexed ones (`a/0=1&a/1=2`). */
export function readQuery(url: string): Record<string, string | string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URL(url).searchParams) {
    const plain = INDEXED.exec(name)?.[1] ?? name;
    found.set(plain, [...(found.get(plain) ?? []), value]);
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]));
}

/** An empty body is no body: `{}`. */
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

export async function readBodyText(c: Context): Promise<string> {
  if (Number(c.req.header("content-length") ?? 0) > MAX_JSON_BYTES) throw bodyTooLarge();
  const stream = c.req.raw.body;
  if (!stream) return "";
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of stream) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_JSON_BYTES) throw bodyTooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function bodyTooLarge(): ApiError {
  return new ApiError("BodyTooLarge", `a JSON body may hold at most ${MAX_JSON_BYTES} bytes`);
}

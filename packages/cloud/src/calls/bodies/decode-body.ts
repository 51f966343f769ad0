import { isUtf8 } from "node:buffer";
import {
  bodyLimits,
  createJsonGuard,
  explainIssue,
  foldAliases,
  namesOf,
  type Operation,
  withoutNulls,
} from "@downlink/protocol";
import type { z } from "zod";
import { ApiError, invalidRequest } from "../../core/errors.ts";
import { memberText } from "./member-text.ts";
import { listIgnored, refuseUnknown } from "./unknown-names.ts";

export type Sized = Operation | Required<Pick<Operation, "bodySize">>;
export type BodyOperation = Operation & Required<Pick<Operation, "body">>;

export interface ReceivedBody {
  readonly operation: BodyOperation;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface DecodedBody {
  readonly fields: Record<string, unknown>;
  /** The names that the operation knows, of those that were sent. */
  readonly names: readonly string[];
  /** The names that nothing reads, as a header shows them. */
  readonly ignored: readonly string[];
}

/** Decodes a body by the operation's schema, and its `textField` as the text that was sent; throws a 400 that names each error. */
export function decodeBody({ operation, bytes }: ReceivedBody): DecodedBody {
  const { body: schema, textField } = operation;
  const text = toText(bytes, operation);
  const given = readBody(schema, text);
  refuseUnknown(operation, given);
  const fields = decode(schema, given);
  return {
    fields: textField === undefined ? fields : { ...fields, [textField]: findText(text, textField) },
    names: namesOf(schema).filter((name) => Object.hasOwn(given, name)),
    ignored: listIgnored(schema, given),
  };
}

export function newTooLargeError(excess: string): ApiError {
  return new ApiError("BodyTooLarge", `the body ${excess}`);
}

export function decode(schema: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  const parsed = schema.safeParse(foldAliases(schema.shape, given), { error: explainIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error);
}

/**
 * Throws 413 for a large body with too many values; those of an ordinary one are counted while it arrives. Bytes that are not UTF-8 are
 * refused and not replaced, because the sender would not see what was lost.
 */
export function toText(bytes: Uint8Array<ArrayBuffer>, { bodySize = "ordinary" }: Sized): string {
  const excess = bodySize === "large" ? createJsonGuard(bodyLimits.large).take(bytes) : undefined;
  if (excess !== undefined) throw newTooLargeError(excess);
  if (!isUtf8(bytes)) throw new ApiError("MalformedJson", "the body is not UTF-8");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** A null is absent. The schema has refused it where the field is required. */
function findText(bodyText: string, name: string): string | undefined {
  const text = memberText(bodyText, name);
  return text === "null" ? undefined : text;
}

function readBody(schema: z.ZodObject, text: string): Record<string, unknown> {
  const given = parseObject(text);
  return text.includes("null") ? (withoutNulls(schema, given) as Record<string, unknown>) : given;
}

/** An empty body counts as `{}`. */
function parseObject(text: string): Record<string, unknown> {
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

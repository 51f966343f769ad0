import type { z } from "zod";
import type { Capability } from "../operations/capabilities.ts";
import type { Making, Method } from "../operations/operation.ts";
import type { AnswerHeader } from "./answer-headers.ts";
import type { RequestHeader } from "./request-headers.ts";

/** The contents of a body: the schema of JSON, or another media type. */
export type PlainContent = z.ZodType | string;

interface PlainAnswer {
  readonly description: string;
  readonly content?: PlainContent;
  /** The headers that it may have, besides those of every answer. */
  readonly headers?: readonly AnswerHeader[];
}

/** A route that is no operation, because it takes or answers bytes, or because it is about the service itself. */
export interface PlainRoute {
  readonly method: Method;
  readonly path: string;
  /** Its name in the document: `tag.name`. */
  readonly called: string;
  readonly summary: string;
  readonly description?: string;
  /** The callers that are allowed: an API key with the capability, the holder of the signed link, or anybody. */
  readonly access: { readonly capability: Capability } | "link" | "anybody";
  readonly query?: z.ZodObject;
  /** The headers that it reads, besides an `Idempotency-Key`. */
  readonly headers?: readonly RequestHeader[];
  /** The body that it takes. */
  readonly takes?: PlainContent;
  /** Describes the thing that a POST by API key makes, as in an operation. */
  readonly makes?: Making | "nothing";
  /** The answer for each status. */
  readonly answers: Readonly<Record<number, PlainAnswer>>;
  /** The statuses of refusals, besides those that every route may answer. */
  readonly refusals: readonly number[];
}

export const BYTES = "application/octet-stream";

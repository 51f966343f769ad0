import type { Capability } from "../operations/capabilities.ts";
import type { Making, Method } from "../operations/operation.ts";

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
  /** The media type of the body that it takes. */
  readonly takes?: string;
  /** Describes the thing that a POST by API key makes, as in an operation. */
  readonly makes?: Making | "nothing";
  /** The answer for each status, and its media type. */
  readonly answers: Readonly<Record<number, { readonly description: string; readonly mediaType?: string }>>;
  /** The statuses of refusals, besides those that every route may answer. */
  readonly refusals: readonly number[];
}

export const BYTES = "application/octet-stream";
export const JSON_TYPE = "application/json";

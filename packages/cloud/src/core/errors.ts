import { type ErrorBody, type ErrorCode, errorCodes } from "@downlink/protocol";
import type { z } from "zod";

type Details = ErrorBody["details"];
type Detail = NonNullable<Details>[number];

/** More than any body has fields. */
const MAX_DETAILS = 30;

interface More {
  readonly details?: Details;
  readonly organizations?: ErrorBody["organizations"];
  readonly missing?: ErrorBody["missing"];
  readonly retryAfterSeconds?: number;
  /** The status, if it is another one than the code's own. */
  readonly status?: number | undefined;
}

/** An answer that is not a success; `code` decides its status. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Always present with `InvalidRequest`: which place is wrong, and how. */
  readonly details: Details;
  /** Present with `OrganizationRequired`. */
  readonly organizations: ErrorBody["organizations"];
  /** Present with `Incomplete`, and with `NoStreamableRecordings` if something was selected. */
  readonly missing: ErrorBody["missing"];
  readonly retryAfterSeconds: number | undefined;
  readonly status: number;

  constructor(code: ErrorCode, message: string, more: More = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.details = more.details ?? (code === "InvalidRequest" ? [{ path: "", message }] : undefined);
    this.organizations = more.organizations;
    this.missing = more.missing;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.status = more.status ?? errorCodes[code].status;
  }

  toBody(): ErrorBody {
    const { message: error, code, details, organizations, missing } = this;
    return {
      error,
      code,
      ...(details && { details }),
      ...(organizations && { organizations }),
      ...(missing && { missing }),
    };
  }
}

export function refuse(code: ErrorCode, message: string): never {
  throw new ApiError(code, message);
}

/** `what` names the thing as the caller named it. */
export function throwNotFound(what: string): never {
  throw new ApiError("NotFound", `${what} not found`);
}

/** `message` says what the value at `path` must be: `must be a text`. With an empty path it is a whole sentence about the request. */
export function invalid(path: string, message: string): never {
  throw invalidAt([{ path, message }]);
}

/** Makes a 400 that names only the first wrong places, because a body of megabytes may have a hundred thousand. */
export function invalidAt(all: readonly Detail[]): ApiError {
  const details = all.slice(0, MAX_DETAILS);
  const sentences = details.map(({ path, message }) => (path ? `${path} ${message}` : message));
  const more = all.length > details.length ? [`and ${all.length - details.length} more`] : [];
  return new ApiError("InvalidRequest", [...sentences, ...more].join("; "), { details });
}

/**
 * Makes a 400 of what a schema refuses. For a value of a wrong type it reports only the type, and not also, for example, that an empty list
 * is too short for a text.
 */
export function invalidRequest({ issues }: Pick<z.ZodError, "issues">): ApiError {
  const details = issues.map(({ path, message, code }) => ({ path: path.join("."), message, code }));
  const mistyped = new Set(details.flatMap(({ path, code }) => (code === "invalid_type" ? path : [])));
  return invalidAt(
    details
      .filter(({ path, code }) => code === "invalid_type" || !mistyped.has(path))
      .map(({ path, message }) => ({ path, message })),
  );
}

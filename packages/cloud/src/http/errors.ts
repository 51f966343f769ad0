import { type ErrorBody, type ErrorCode, errorCodes } from "@downlink/protocol";
import type { z } from "zod";

type Details = ErrorBody["details"];

const MAX_DETAILS = 20;

interface More {
  readonly details?: Details;
  readonly retryAfterSeconds?: number;
  /** Another one than the code's own. */
  readonly status?: number | undefined;
}

/** An answer that is not a success; `code` decides its status. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Always there with `InvalidRequest`: which place is wrong, and how. */
  readonly details: Details;
  readonly retryAfterSeconds: number | undefined;
  readonly status: number;

  constructor(code: ErrorCode, message: string, more: More = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.details = more.details ?? (code === "InvalidRequest" ? [{ path: "", message }] : undefined);
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.status = more.status ?? errorCodes[code].status;
  }

  toBody(): ErrorBody {
    return { error: this.message, code: this.code, ...(this.details && { details: this.details }) };
  }
}

export function refuse(code: ErrorCode, message: string): never {
  throw new ApiError(code, message);
}

/** `what` names the thing as the caller named it. */
export function notFound(what: string): never {
  throw new ApiError("NotFound", `${what} not found`);
}

export function invalid(path: string, message: string): never {
  throw new ApiError("InvalidRequest", `${path}: ${message}`, { details: [{ path, message }] });
}

/** Names the first faults; a body of megabytes may have a hundred thousand. */
export function invalidRequest({ issues }: z.ZodError): ApiError {
  const details = issues.slice(0, MAX_DETAILS).map(({ path, message }) => ({ path: path.join("."), message }));
  const sentences = details.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const more = issues.length - details.length;
  return new ApiError("InvalidRequest", [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join("; "), {
    details,
  });
}

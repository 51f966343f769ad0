import { type ErrorBody, type ErrorCode, errorCodes } from "@downlink/protocol";
import type { z } from "zod";

type Details = ErrorBody["details"];

/** An answer that is not a success; `code` decides its status. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Details;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, more: { details?: Details; retryAfterSeconds?: number } = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.details = more.details;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  get status() {
    return errorCodes[this.code].status;
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

export function invalidRequest(error: z.ZodError): ApiError {
  const details = error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  const sentence = details.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  return new ApiError("InvalidRequest", sentence, { details });
}

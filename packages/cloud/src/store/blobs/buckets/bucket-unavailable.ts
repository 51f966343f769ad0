import { ApiError } from "../../../core/errors.ts";

/** The bucket does not answer, or refuses what this server must be allowed to do, so nothing is known about the object. */
export class BucketUnavailableError extends ApiError {
  constructor(message: string, cause: unknown) {
    super("Unavailable", message, { retryAfterSeconds: 10 });
    this.name = "BucketUnavailableError";
    this.cause = cause;
  }
}

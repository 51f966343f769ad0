import { ApiError } from "../../../core/errors.ts";

/** The bucket does not answer, or refuses what this server must be allowed to do, so nothing is known about the object. */
export class BucketUnavailableError extends ApiError {
  constructor(message: string, cause: unknown) {
    super("Unavailable", message, { retryAfterSeconds: 10 });
    this.name = "BucketUnavailableError";
    this.cause = cause;
  }
}

/** The credentials are missing, wrong or too old, so that every call fails in the same way, whatever it is. */
export class WrongCredentialsError extends BucketUnavailableError {}

/** Returns the faults that `find` returns, or only that of the credentials if these are wrong. */
export async function findFaults(find: () => Promise<string[]>): Promise<string[]> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof WrongCredentialsError) return [error.message];
    throw error;
  }
}

import type { Context } from "hono";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import type { Logger } from "pino";
import { ApiError } from "../../core/errors.ts";
import { isDatabaseAway, isDatabaseFull, QUERY_CANCELED, sqlState } from "../../db/sql-state.ts";
import { StorageFullError } from "../../store/blobs/blob-errors.ts";
import type { Env } from "../connections/env.ts";
import { isCallerGone } from "../connections/new-gone-signal.ts";

/** A Postgres that was killed or restarted is back after seconds; a repeat before that would only fail once more. */
const RETRY_AFTER_SECONDS = 5;
/** A statement that took a minute is likely to do so again at once. */
const TOO_LONG_RETRY_AFTER_SECONDS = 30;
/** A NUL or broken character in a text, a number beyond its column, or a text too long for its index. */
const UNSTORABLE = new Set(["22021", "22P05", "22003", "54000"]);

/** The status that nginx has for it. The answer is never read. */
const CALLER_GONE = 499;

/** Every failure is answered as `{error, code}`; a failure other than an ApiError is logged in full and answered without its text. */
export function answerError(c: Context<Env>, error: Error, log: Logger): Response {
  if (isCallerGone(error)) return c.body(null, CALLER_GONE as StatusCode);
  const known = toApiError(error);
  if (sqlState(error) === QUERY_CANCELED)
    log.warn({ requestId: c.get("requestId"), err: error }, "a statement took too long");
  if (known?.code === "StorageFull") log.warn({ err: error }, "what was sent cannot be stored");
  if (!known) log.error({ requestId: c.get("requestId"), err: error }, "request failed");
  const answer = known ?? new ApiError("Internal", `internal error; quote the request id ${c.get("requestId")}`);
  if (answer.retryAfterSeconds !== undefined) c.header("Retry-After", String(answer.retryAfterSeconds));
  if (answer.status === 408) c.header("Connection", "close"); // the rest of the body may still come, and is no request
  if (answer.status === 401) c.header("WWW-Authenticate", 'Bearer realm="downlink"');
  return c.json(answer.toBody(), answer.status as ContentfulStatusCode);
}

function toApiError(error: Error): ApiError | undefined {
  if (error instanceof ApiError) return error;
  const state = sqlState(error);
  if (state !== undefined && UNSTORABLE.has(state))
    return new ApiError("InvalidRequest", "the request holds a text or number that cannot be stored");
  if (state === QUERY_CANCELED) return newTooLongError();
  if (isDatabaseFull(error)) return new StorageFullError(error);
  if (!isDatabaseAway(error)) return undefined;
  return new ApiError("Unavailable", "the database is away; try again", { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function newTooLongError(): ApiError {
  const message = "the database takes too long for this request; ask for less at once, or try again later";
  return new ApiError("Unavailable", message, { retryAfterSeconds: TOO_LONG_RETRY_AFTER_SECONDS });
}

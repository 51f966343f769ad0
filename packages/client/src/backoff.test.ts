import assert from "node:assert/strict";
import { test } from "node:test";
import { isWorthRetrying, retryDelayMs } from "./backoff.ts";
import { ApiCallError, NetworkError } from "./errors.ts";

const network = new NetworkError("down");
const busy = new ApiCallError({ status: 429, message: "busy", code: "RateLimited", retryAfterMs: 20_000 });

test("the wait doubles with each failure, up to five minutes, for any number of failures", () => {
  const longest = (attempt: number) => retryDelayMs(network, attempt, { random: () => 1 - Number.EPSILON });
  assert.deepEqual([1, 2, 3, 9, 10, 1e6].map(longest), [999, 1999, 3999, 255_999, 299_999, 299_999]);
});

test("the whole range below that is used, so that many agents do not come back together", () => {
  assert.equal(retryDelayMs(network, 5, { random: () => 0 }), 0);
  assert.equal(retryDelayMs(network, 5, { random: () => 0.5 }), 8000);
});

test("Retry-After is never undercut, and never makes the wait longer than the cap", () => {
  assert.equal(retryDelayMs(busy, 1, { random: () => 0 }), 20_000);
  const day = new ApiCallError({ status: 503, message: "", retryAfterMs: 86_400_000 });
  assert.equal(retryDelayMs(day, 1), 5 * 60_000);
});

test("network trouble, overload, server errors and foreign answers are worth another try; refusals are not", () => {
  const portal = new ApiCallError({ status: 403, message: "html" });
  const refusal = new ApiCallError({ status: 404, message: "", code: "NotFound" });
  assert.deepEqual([network, busy, portal, refusal, new Error("bug")].map(isWorthRetrying), [
    true,
    true,
    true,
    false,
    false,
  ]);
});

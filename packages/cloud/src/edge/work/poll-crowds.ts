import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import { ApiError } from "../../core/errors.ts";
import { MOST_POLLS } from "../../process/polls/agent-polls.ts";

/**
 * Beyond the limit, another poll is let in only this often and ends the oldest one: the agent may still wait on that connection, and the
 * server cannot know.
 */
const REPLACE_EVERY_MS = 1000;
/** A caller that polls again at once, whatever the answer, polls no more often than this. */
const REFUSED_AFTER_MS = 2000;
const RETRY_AFTER_SECONDS = 5;

interface Crowd {
  count: number;
  /** A time of the monotonic clock. */
  replacedAtMs: number;
}

/**
 * Only a few polls with one token may wait, and the others are refused. Until it is refused, such a poll is only an open socket: it neither
 * waits for a turn nor makes the database look up its caller. `nameOf` names a caller before its token is looked up.
 */
export function boundPolls(nameOf: (c: Context<Env>) => string): MiddlewareHandler<Env> {
  const crowds = new Map<string, Crowd>();
  const letIn = new WeakSet<IncomingMessage>();

  const enter = (caller: string, outgoing: ServerResponse): boolean => {
    const crowd = crowds.get(caller) ?? { count: 0, replacedAtMs: Number.NEGATIVE_INFINITY };
    const nowMs = performance.now();
    if (crowd.count >= MOST_POLLS) {
      if (nowMs - crowd.replacedAtMs < REPLACE_EVERY_MS) return false;
      crowd.replacedAtMs = nowMs;
    }
    crowd.count += 1;
    crowds.set(caller, crowd);
    outgoing.once("close", () => {
      crowd.count -= 1;
      if (crowd.count === 0) crowds.delete(caller);
    });
    return true;
  };

  return async (c, next) => {
    const { incoming, outgoing } = c.env;
    const isMadeAgain = letIn.has(incoming);
    if (!isMadeAgain && !enter(nameOf(c), outgoing)) {
      await waitUntilRefused(outgoing);
      const message = `${MOST_POLLS} polls of this token wait already, as many as may; try again`;
      throw new ApiError("RateLimited", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    letIn.add(incoming);
    return next();
  };
}

function waitUntilRefused(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, REFUSED_AFTER_MS);
    outgoing.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

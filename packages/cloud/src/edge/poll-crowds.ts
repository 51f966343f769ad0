import type { IncomingMessage, ServerResponse } from "node:http";
import type { MiddlewareHandler } from "hono";
import { ApiError } from "../core/errors.ts";
import type { Env } from "../http/env.ts";
import { MOST_POLLS } from "../polls/agent-polls.ts";

/** So often another one is let in beyond that, which ends the oldest: the agent may be behind that of which nobody knows. */
const REPLACE_EVERY_MS = 1000;
/** Who asks again at once, whatever it is told, asks no more often than that. */
const REFUSED_AFTER_MS = 2000;
const RETRY_AFTER_SECONDS = 5;

interface Crowd {
  count: number;
  /** A time of the monotonic clock. */
  replacedAtMs: number;
}

/**
 * Of the polls of one token, those beyond the few that may wait are refused, after a while in which they are nothing but a socket: before
 * they wait for a turn and the database is asked who they are. A token is known by its text alone here.
 */
export function boundPolls(): MiddlewareHandler<Env> {
  const crowds = new Map<string, Crowd>();
  const letIn = new WeakSet<IncomingMessage>();

  const enter = (token: string, outgoing: ServerResponse): boolean => {
    const crowd = crowds.get(token) ?? { count: 0, replacedAtMs: Number.NEGATIVE_INFINITY };
    const nowMs = performance.now();
    if (crowd.count >= MOST_POLLS) {
      if (nowMs - crowd.replacedAtMs < REPLACE_EVERY_MS) return false;
      crowd.replacedAtMs = nowMs;
    }
    crowd.count += 1;
    crowds.set(token, crowd);
    outgoing.once("close", () => {
      crowd.count -= 1;
      if (crowd.count === 0) crowds.delete(token);
    });
    return true;
  };

  return async (c, next) => {
    const { incoming, outgoing } = c.env;
    const isMadeAgain = letIn.has(incoming);
    if (!isMadeAgain && !enter(c.req.header("authorization") ?? "", outgoing)) {
      await untilRefused(outgoing);
      const message = `${MOST_POLLS} polls of this token wait already, as many as may; try again`;
      throw new ApiError("RateLimited", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    letIn.add(incoming);
    return next();
  };
}

function untilRefused(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, REFUSED_AFTER_MS);
    outgoing.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

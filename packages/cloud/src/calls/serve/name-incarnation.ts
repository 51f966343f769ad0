import { INCARNATION_HEADER } from "@downlink/protocol";
import type { MiddlewareHandler } from "hono";
import { readIncarnation } from "../../db/incarnation.ts";
import { isDatabaseAway } from "../../db/sql-state.ts";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";

/**
 * Every answer to an agent names the cloud's incarnation, so that a running agent learns of a restore at its next call, whatever that is.
 * It is read after the work is done: an answer of the old incarnation that names the new one costs a hello, but a new answer that names the
 * old one would make the agent trust what is no longer true.
 */
export function nameIncarnation({ db }: Deps): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    if (c.get("isHeld") || c.res.status === 401 || c.res.status >= 500) return;
    try {
      const incarnation = c.get("incarnation") ?? (await readIncarnation(db));
      const { outgoing } = c.env;
      if (!outgoing.headersSent) outgoing.setHeader(INCARNATION_HEADER, incarnation); // Hono's own method would make the whole answer again
    } catch (error) {
      if (!isDatabaseAway(error)) throw error; // The work of the call is done; the next answer names it.
    }
  };
}

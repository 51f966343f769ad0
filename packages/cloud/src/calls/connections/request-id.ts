import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { Env } from "./env.ts";

const SANE = /^[\w.:/+=-]{1,128}$/;

/** Every response carries `X-Request-Id`, with the caller's id if it is well-formed; and no browser guesses the type of the response. */
export function nameRequest(c: Context<Env>): void {
  const given = c.req.header("x-request-id");
  const id = given && SANE.test(given) ? given : randomUUID();
  c.set("requestId", id);
  c.env.outgoing.setHeader("X-Request-Id", id); // a header of Hono's costs each answer a `Headers`
  c.env.outgoing.setHeader("X-Content-Type-Options", "nosniff");
}

import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { Env } from "./env.ts";

const SANE = /^[\w.:/+=-]{1,128}$/;

/** Every response carries `X-Request-Id`: the caller's where it sent a sane one. */
export const requestId: MiddlewareHandler<Env> = async (c, next) => {
  const given = c.req.header("x-request-id");
  const id = given && SANE.test(given) ? given : randomUUID();
  c.set("requestId", id);
  c.header("X-Request-Id", id);
  await next();
};

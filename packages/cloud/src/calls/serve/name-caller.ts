import type { Context } from "hono";
import { hashToken } from "../../process/credentials/mint.ts";
import type { Env } from "../connections/env.ts";
import { addressOf } from "../connections/limit-rates.ts";
import type { Deps } from "../context/context.ts";
import { bearerOf } from "./authenticate.ts";
import { sessionCookie } from "./session-cookie.ts";

type NameDeps = Pick<Deps, "publicUrl" | "trustedProxies">;

/**
 * Returns by what limits know a caller before anything is looked up: the hash of its token, however that is sent and spelled, or its address
 * if it has none. `queryToken` is a token in the query, where the route takes one: it counts before the header there.
 */
export function nameCaller(c: Context<Env>, deps: NameDeps, queryToken?: string): string {
  const token = queryToken ?? tokenOf(c, deps);
  return token === undefined ? `address ${addressOf(c, deps.trustedProxies)}` : hashToken(token);
}

/** As in `authenticate.ts`, a cookie counts only without an `Authorization` header. */
function tokenOf(c: Context<Env>, deps: NameDeps): string | undefined {
  const given = c.req.header("authorization");
  return given === undefined ? sessionCookie(c.req.raw.headers, deps) : bearerOf(given);
}

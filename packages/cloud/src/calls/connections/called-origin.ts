import type { Context, MiddlewareHandler } from "hono";
import { isTrusted } from "../../process/limits/client-address.ts";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;

/** Lets links be built from the address at which a call arrived, unless the operator chose one (`DOWNLINK_PUBLIC_URL`). */
export function nameCalledOrigin(deps: Pick<Deps, "withOrigin" | "trustedProxies">): MiddlewareHandler<Env> {
  return (c, next) => {
    const origin = calledOrigin(c, deps);
    return origin === undefined ? next() : deps.withOrigin(origin, next);
  };
}

/** Only a trusted proxy says by `X-Forwarded-Host` and `X-Forwarded-Proto` how its own caller came. */
function calledOrigin(c: Context<Env>, { trustedProxies }: Pick<Deps, "trustedProxies">): string | undefined {
  const isProxied = isTrusted(c.env.incoming.socket.remoteAddress, trustedProxies);
  const readForwarded = (name: string) => (isProxied ? lastOf(c.req.header(name)) : undefined);
  const host = readForwarded("x-forwarded-host") ?? c.req.header("host") ?? "";
  const scheme = readForwarded("x-forwarded-proto") ?? "http";
  return HOST.test(host) && /^https?$/.test(scheme) ? `${scheme}://${host.toLowerCase()}` : undefined;
}

/** The nearest proxy writes the last value. */
function lastOf(list: string | undefined): string | undefined {
  return list?.split(",").at(-1)?.trim() || undefined;
}

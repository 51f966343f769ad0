// A browser that is led to the provider and back shows no page of ours on which an error could stand. So it is led to the page of the
// sign-in, and a signed cookie keeps what that page says: a text in the address could be anybody's.

import { ErrorBody } from "@downlink/protocol";
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import type { Deps } from "../../calls/context/context.ts";
import { readCookie, writeCookie } from "../../calls/serve/session-cookie.ts";
import { ApiError } from "../../core/errors.ts";
import { signLink, verifyLink } from "../../core/signed-link.ts";

const NAME = "downlink_sign_in_failed";
const LIFE_SECONDS = 300;
const SIGNED = { method: "COOKIE", path: "/sign-in" };

/** Leads a browser whose sign-in failed to our page for it. Programs get the error itself. */
export function leadBack(deps: Deps): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    const { error } = c;
    if (!(error instanceof ApiError) || !(c.req.header("accept") ?? "").includes("text/html")) return;
    c.res = c.redirect(`${deps.publicUrl()}/sign-in`, 302);
    c.header("Set-Cookie", failureCookie(deps, error.toBody()), { append: true });
  };
}

function failureCookie(deps: Deps, failure: ErrorBody): string {
  const expiresAtMs = Number(deps.clock.nowNs() / 1_000_000n) + LIFE_SECONDS * 1000;
  const value = signLink(deps.signer, { ...SIGNED, claims: { failure: JSON.stringify(failure) }, expiresAtMs });
  return writeCookie(deps, { name: NAME, value, lifeSeconds: LIFE_SECONDS });
}

/** Returns why the last sign-in of this browser failed, once: the cookie is removed. */
export function takeFailure(c: Context<Env>, deps: Deps): ErrorBody | undefined {
  const value = readCookie(c.req.raw.headers, deps, NAME);
  if (value === undefined) return undefined;
  c.header("Set-Cookie", writeCookie(deps, { name: NAME, value: undefined, lifeSeconds: 0 }));
  try {
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    const { failure } = verifyLink(deps.signer, { ...SIGNED, query: new URLSearchParams(value), nowMs });
    return ErrorBody.parse(JSON.parse(failure ?? ""));
  } catch {
    return undefined;
  }
}

// Between the redirect to the provider and the way back, a cookie keeps the secrets of the attempt. So only the browser that began the
// attempt can finish it: a browser cannot sign in with a code that was given to another one. The cookie is signed, so that its end and
// `next` are ours.

import { z } from "zod";
import type { Deps } from "../../calls/context/context.ts";
import { readCookie, writeCookie } from "../../calls/serve/session-cookie.ts";
import { ApiError } from "../../core/errors.ts";
import { signLink, verifyLink } from "../../core/signed-link.ts";
import type { Attempt } from "../../process/identity-provider/identity-provider.ts";

const NAME = "downlink_sign_in";
const LIFE_SECONDS = 600;
/** No link is for this method, so that neither is taken for the other. */
const SIGNED = { method: "COOKIE", path: "/v1/session/oidc" };

export interface PreLogin extends Attempt {
  /** The path on which the browser goes on. */
  readonly next: string;
  /** The organization that was asked for; empty: none was. */
  readonly organization: string;
}

const Claims: z.ZodType<PreLogin> = z.object({
  state: z.string().min(1),
  nonce: z.string().min(1),
  codeVerifier: z.string().min(1),
  next: z.string(),
  organization: z.string(),
});

export function preLoginCookie(deps: Deps, preLogin: PreLogin): string {
  const expiresAtMs = Number(deps.clock.nowNs() / 1_000_000n) + LIFE_SECONDS * 1000;
  const value = signLink(deps.signer, { ...SIGNED, claims: { ...preLogin }, expiresAtMs });
  return writeCookie(deps, { name: NAME, value, lifeSeconds: LIFE_SECONDS });
}

export function removePreLogin(deps: Deps): string {
  return writeCookie(deps, { name: NAME, value: undefined, lifeSeconds: 0 });
}

/** 401 unless this browser began this attempt, not longer ago than ten minutes. */
export function readPreLogin(deps: Deps, headers: Headers, state: string | undefined): PreLogin {
  const value = readCookie(headers, deps, NAME);
  const preLogin = value === undefined ? undefined : verifyPreLogin(deps, value);
  if (preLogin && preLogin.state === state) return preLogin;
  throw new ApiError("Unauthenticated", "this browser has not begun this sign-in, or too long ago; begin again");
}

function verifyPreLogin({ signer, clock }: Deps, value: string): PreLogin | undefined {
  try {
    const nowMs = Number(clock.nowNs() / 1_000_000n);
    return Claims.parse(verifyLink(signer, { ...SIGNED, query: new URLSearchParams(value), nowMs }));
  } catch {
    return undefined;
  }
}

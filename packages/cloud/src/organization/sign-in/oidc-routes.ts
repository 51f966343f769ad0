import { oidcRoutes } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import { addressOf } from "../../calls/connections/limit-rates.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import type { Deps } from "../../calls/context/context.ts";
import { setCookie } from "../../calls/serve/session-cookie.ts";
import { ApiError, invalid, refuse } from "../../core/errors.ts";
import type { IdentityProvider } from "../../process/identity-provider/identity-provider.ts";
import { noteOrWarn } from "../../recovery/note-entries.ts";
import { SESSION_SECONDS } from "../members/begin-session.ts";
import { leadBack } from "./failed-sign-in.ts";
import { preLoginCookie, readPreLogin, removePreLogin } from "./pre-login.ts";
import { signInProven } from "./provider-sign-in.ts";
import { strangerOf } from "./session-routes.ts";

/** After its first slash is a letter or digit, so that no browser and no proxy takes what follows for a host. */
const NEXT_PATH = /^\/([A-Za-z0-9_?#][\x21-\x5b\x5d-\x7e]*)?$/;
const MAX_NEXT_LENGTH = 1000;

/** Serves the sign-in at a provider of OpenID Connect: the way there, and the way back. A browser is led along both. */
export function oidcRoutesOf(app: Hono<Env>, deps: Deps): void {
  for (const { path } of [oidcRoutes.begin, oidcRoutes.finish]) app.use(path, leadBack(deps));
  app.get(oidcRoutes.begin.path, async (c) => {
    forbidKeeping(c);
    const provider = requireProvider(deps);
    const next = readNext(c.req.query("next"), deps.publicUrl());
    using _turn = await takeTurn(c, deps);
    const { attempt, page } = await provider.begin(redirectUri(deps));
    const organization = readOrganization(c);
    c.header("Set-Cookie", preLoginCookie(deps, { ...attempt, next, organization }));
    return c.redirect(page.href, 302);
  });
  app.get(oidcRoutes.finish.path, async (c) => {
    forbidKeeping(c);
    const provider = requireProvider(deps);
    c.header("Set-Cookie", removePreLogin(deps)); // whatever comes of it, this attempt is over
    const preLogin = readPreLogin(deps, c.req.raw.headers, readSingle(c, "state"));
    const returned = readReturnedUrl(c, deps);
    using _turn = await takeTurn(c, deps);
    const proven = await provider.finish(returned, preLogin);
    const organization = preLogin.organization || undefined;
    const { token } = await signInProven(strangerOf(c, deps), proven, organization);
    await noteOrWarn(deps); // a restore does not bring a used invitation back
    c.header("Set-Cookie", setCookie(deps, token, SESSION_SECONDS), { append: true });
    return c.redirect(`${deps.publicUrl()}${preLogin.next}`, 302);
  });
}

function takeTurn(c: Context<Env>, { turns, trustedProxies }: Deps): Promise<Disposable> {
  return turns.provider.take({ owner: addressOf(c, trustedProxies) }, () => newGoneSignal(c));
}

/** Only so long that the cookie holds it. */
function readOrganization(c: Context<Env>): string {
  const organization = c.req.query("organization") ?? "";
  return /^[\w-]{0,100}$/.test(organization) ? organization : invalid("organization", "must be the id of one");
}

function requireProvider({ signIns }: Deps): IdentityProvider {
  return signIns.provider ?? refuse("SignInRefused", "no provider of OpenID Connect is set up here");
}

function redirectUri({ publicUrl }: Deps): string {
  return `${publicUrl()}${oidcRoutes.finish.path}`;
}

/** Returns the address that the browser was sent to, as the provider knows it, with what the standard puts there. */
function readReturnedUrl(c: Context<Env>, deps: Deps): URL {
  const error = readSingle(c, "error");
  if (error !== undefined)
    throw new ApiError("Unauthenticated", `the provider did not sign you in: ${readable(error)}`);
  const returned = new URL(redirectUri(deps));
  for (const name of ["code", "state", "iss"]) {
    const value = readSingle(c, name);
    if (value !== undefined) returned.searchParams.set(name, value);
  }
  if (!returned.searchParams.has("code"))
    throw new ApiError("Unauthenticated", "the provider gave no code; begin again");
  return returned;
}

/** Anybody can make a browser come here with a text of their own. */
function readable(error: string): string {
  return /^[a-z_]{1,50}$/.test(error) ? error : "it gave no reason";
}

/** A parameter that stands there twice is none. */
function readSingle(c: Context<Env>, name: string): string | undefined {
  const values = c.req.queries(name) ?? [];
  return values.length === 1 ? values[0] : undefined;
}

function forbidKeeping(c: Context<Env>): void {
  c.header("Cache-Control", "no-store");
  c.header("Referrer-Policy", "no-referrer");
}

/** Returns where the browser goes after the sign-in: a path of our own, or `/`. */
function readNext(text: string | undefined, publicUrl: string): string {
  if (text === undefined || text === "") return "/";
  if (text.length > MAX_NEXT_LENGTH || !NEXT_PATH.test(text)) return refuseNext();
  const { origin, pathname, search, hash } = new URL(text, publicUrl);
  if (origin !== new URL(publicUrl).origin || pathname.startsWith("//")) return refuseNext();
  return `${pathname}${search}${hash}`;
}

function refuseNext(): never {
  return invalid("next", "must be a path of this service, such as /recordings");
}

// A browser sends the cookie of a session by itself, also when the page of another website makes it call. So a change by cookie needs the
// `Origin` of our own pages and a type of body that no form of another page can send; SameSite=Lax already keeps the cookie out of most
// such calls.

import { ApiError, refuse } from "../../core/errors.ts";
import type { Deps } from "../context/context.ts";

const NAME = "downlink_session";
const CHANGELESS = new Set(["GET", "HEAD"]);

type Addressed = Pick<Deps, "publicUrl">;

function isSecure({ publicUrl }: Addressed): boolean {
  return publicUrl().startsWith("https:");
}

/** The name with which a browser accepts the cookie only from this very host, over https. */
function fullName(deps: Addressed, name: string): string {
  return isSecure(deps) ? `__Host-${name}` : name;
}

export function sessionCookie(headers: Headers, deps: Addressed): string | undefined {
  return readCookie(headers, deps, NAME);
}

export function readCookie(headers: Headers, deps: Addressed, ofName: string): string | undefined {
  const name = `${fullName(deps, ofName)}=`;
  const cookies = (headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length);
}

/** The text of `Set-Cookie`; without a token it removes the cookie. */
export function setCookie(deps: Addressed, token: string | undefined, lifeSeconds: number): string {
  return writeCookie(deps, { name: NAME, value: token, lifeSeconds });
}

interface Cookie {
  readonly name: string;
  readonly value: string | undefined;
  readonly lifeSeconds: number;
}

/** The text of `Set-Cookie` of any cookie of ours; without a value it removes the cookie. */
export function writeCookie(deps: Addressed, { name, value, lifeSeconds }: Cookie): string {
  const secure = isSecure(deps) ? "; Secure" : "";
  const life = value ? lifeSeconds : 0;
  return `${fullName(deps, name)}=${value ?? ""}; Path=/; HttpOnly; SameSite=Lax${secure}; Max-Age=${life}`;
}

/** 403 without the origin of our own pages; one that is missing or `null` is not it. */
export function requireOwnOrigin(headers: Headers, { publicUrl }: Addressed): void {
  const own = new URL(publicUrl()).origin;
  if (headers.get("origin") !== own) refuse("OriginRefused", `this needs the header Origin: ${own}`);
}

/** Checks what a call by cookie must have if it may change something. */
export function requireOwnPage({ method, headers }: Request, deps: Addressed): void {
  if (CHANGELESS.has(method)) return;
  requireOwnOrigin(headers, deps);
  const hasBody = headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0;
  if (hasBody) requireJson(headers, ["application/octet-stream"]);
}

/** 415 unless the body is JSON, or of another type that is taken here. */
export function requireJson(headers: Headers, others: readonly string[] = []): void {
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (type !== "application/json" && !others.includes(type))
    throw new ApiError("UnsupportedMediaType", "the body must be application/json");
}

// A link signs version, key id, method, path, expiry and claims. To rotate, put the new secret in front of the old
// one.

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { makerClaim, type PersonCaller } from "./callers.ts";
import { ApiError, refuse } from "./errors.ts";

/** Signs with its first key and accepts the signatures of all keys: to rotate, put the new secret in front. */
export interface LinkSigner {
  readonly keys: readonly SigningKey[];
  /** The self-hosted site that its links lead to. Each link names it, and is refused elsewhere, even where the same keys are used. */
  readonly siteId?: string | undefined;
}

interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** A capability that names exactly one thing: its holder may make this request until it expires. */
export interface Link {
  /** The method in upper case. A link for GET is valid for HEAD too. */
  readonly method: string;
  /** The path as it is requested, without the query. */
  readonly path: string;
  readonly claims: Record<string, string>;
  /** The end of the link's validity, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

const VERSION = "1";
/** The query parameter that every signed link has and no other link. */
export const LINK_SIGNATURE = "s";
const KEY_ID_LENGTH = 8;

/** Needs at least one secret, each of 32 characters or more. */
export function createLinkSigner(secrets: readonly string[], siteId?: string): LinkSigner {
  if (secrets.length === 0 || secrets.some((secret) => secret.length < 32))
    throw new RangeError("a link signer needs secrets of at least 32 characters");
  return { keys: secrets.map(toSigningKey), siteId };
}

/** Returns the query, without `?`, that lets a request for `link.path` pass. */
export function signLink(signer: LinkSigner, link: Link): string {
  const signing = signer.keys[0]!;
  const named = signer.siteId === undefined ? link.claims : { ...link.claims, site: signer.siteId };
  const claims = Buffer.from(JSON.stringify(named)).toString("base64url");
  const parts: SignedParts = { keyId: signing.id, expiry: String(Math.trunc(link.expiresAtMs)), claims };
  const signature = sign(signing.key, { ...link, ...parts }).toString("base64url");
  return new URLSearchParams({
    v: VERSION,
    k: parts.keyId,
    e: parts.expiry,
    c: claims,
    [LINK_SIGNATURE]: signature,
  }).toString();
}

/** Links to stored bytes are valid for 15 minutes. spec: Limits */
export const DOWNLOAD_LIFE_MS = 15 * 60_000;

interface LinkMaker {
  /** The link ends with the caller's key or session. Undefined: with its time. */
  readonly caller: PersonCaller | undefined;
  readonly signer: LinkSigner;
  readonly clock: { nowNs(): bigint };
  publicUrl(): string;
}

/** Makes the whole link, valid for `lifeMs` from now on, and says when it ends. */
export function makeLink(
  { signer, clock, publicUrl, caller }: LinkMaker,
  { lifeMs, ...made }: Omit<Link, "expiresAtMs"> & { lifeMs: number },
): { link: string; linkExpiresAt: bigint } {
  const link = { ...made, claims: { ...made.claims, ...makerClaim(caller) } };
  const expiresAtMs = Number(clock.nowNs() / 1_000_000n) + lifeMs;
  return {
    link: `${publicUrl()}${link.path}?${signLink(signer, { ...link, expiresAtMs })}`,
    linkExpiresAt: BigInt(expiresAtMs) * 1_000_000n,
  };
}

export interface LinkRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly nowMs: number;
}

/** Returns the claims of the link by which a request came. Throws an ApiError: InvalidLink, LinkRefused or LinkExpired. */
export function verifyLink(signer: LinkSigner, request: LinkRequest): Record<string, string> {
  const { signature, ...parts } = readQuery(request.query);
  const method = request.method === "HEAD" ? "GET" : request.method;
  const signing = signer.keys.find(({ id }) => id === parts.keyId);
  if (!signing || !timingSafeEqual(sign(signing.key, { method, path: request.path, ...parts }), signature))
    refuse("LinkRefused", "the link's signature does not match its method and target");
  if (Number(parts.expiry) <= request.nowMs) refuse("LinkExpired", "the link has expired; ask for a new one");
  const claims = JSON.parse(Buffer.from(parts.claims, "base64url").toString()) as Record<string, string>;
  if (claims.site !== signer.siteId) refuse("LinkRefused", "the link leads to another site");
  return claims;
}

interface SignedParts {
  readonly keyId: string;
  readonly expiry: string;
  readonly claims: string;
}

function sign(key: KeyObject, signed: SignedParts & { method: string; path: string }): Buffer {
  const { keyId, method, path, expiry, claims } = signed;
  // The list is signed as JSON, so that no two different lists give the same text.
  return createHmac("sha256", key)
    .update(JSON.stringify([VERSION, keyId, method, path, expiry, claims]))
    .digest();
}

function readQuery(query: URLSearchParams): SignedParts & { signature: Buffer } {
  const [version, keyId, expiry, claims, text] = ["v", "k", "e", "c", LINK_SIGNATURE].map(
    (name) => query.get(name) ?? "",
  );
  const isShaped =
    version === VERSION && /^[\w-]{8}$/.test(keyId!) && /^\d{1,15}$/.test(expiry!) && /^[\w-]+$/.test(claims!);
  if (!isShaped || !/^[\w-]{43}$/.test(text!))
    throw new ApiError("InvalidLink", "this is no link that this server made");
  return { keyId: keyId!, expiry: expiry!, claims: claims!, signature: Buffer.from(text!, "base64url") };
}

function toSigningKey(secret: string): SigningKey {
  const key = createSecretKey(secret, "utf8");
  return { id: createHmac("sha256", key).update("link key id").digest("base64url").slice(0, KEY_ID_LENGTH), key };
}

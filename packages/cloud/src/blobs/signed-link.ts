// A link signs version, key id, method, path, expiry and claims. To rotate, put the new secret in front of the old
// one.

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { ApiError, refuse } from "../core/errors.ts";

/** Signs with its first key and accepts the signatures of all: to rotate, put the new secret in front. */
export interface LinkSigner {
  readonly keys: readonly SigningKey[];
}

interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** A capability that names exactly one thing: whoever holds it may make this request until it expires. */
export interface Link {
  /** Upper case. A link for GET is good for HEAD too. */
  readonly method: string;
  /** The path as it is requested, without the query. */
  readonly path: string;
  readonly claims: Record<string, string>;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

const VERSION = "1";
/** The parameter of a link's query that no other link has. */
export const LINK_SIGNATURE = "s";
const KEY_ID_LENGTH = 8;

/** `secrets`: at least one, each of 32 characters or more. */
export function createLinkSigner(secrets: readonly string[]): LinkSigner {
  if (secrets.length === 0 || secrets.some((secret) => secret.length < 32))
    throw new RangeError("a link signer needs secrets of at least 32 characters");
  return { keys: secrets.map(toSigningKey) };
}

/** The query, without `?`, that makes a request for `link.path` good. */
export function signLink(signer: LinkSigner, link: Link): string {
  const signing = signer.keys[0]!;
  const claims = Buffer.from(JSON.stringify(link.claims)).toString("base64url");
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

/** Links to stored bytes are good for 15 minutes. spec: Limits */
export const DOWNLOAD_LIFE_MS = 15 * 60_000;

interface LinkMaker {
  readonly signer: LinkSigner;
  readonly clock: { nowNs(): bigint };
  publicUrl(): string;
}

/** The whole link, good from now on for `lifeMs`, and until when that is. */
export function makeLink(
  { signer, clock, publicUrl }: LinkMaker,
  { lifeMs, ...link }: Omit<Link, "expiresAtMs"> & { lifeMs: number },
): { link: string; linkExpiresAt: bigint } {
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

/** The claims of the link that a request came by. Throws an ApiError: InvalidLink, LinkRefused or LinkExpired. */
export function verifyLink(signer: LinkSigner, request: LinkRequest): Record<string, string> {
  const { signature, ...parts } = readQuery(request.query);
  const method = request.method === "HEAD" ? "GET" : request.method;
  const signing = signer.keys.find(({ id }) => id === parts.keyId);
  if (!signing || !timingSafeEqual(sign(signing.key, { method, path: request.path, ...parts }), signature))
    refuse("LinkRefused", "the link's signature does not match its method and target");
  if (Number(parts.expiry) <= request.nowMs) refuse("LinkExpired", "the link has expired; ask for a new one");
  return JSON.parse(Buffer.from(parts.claims, "base64url").toString()) as Record<string, string>;
}

interface SignedParts {
  readonly keyId: string;
  readonly expiry: string;
  readonly claims: string;
}

function sign(key: KeyObject, signed: SignedParts & { method: string; path: string }): Buffer {
  const { keyId, method, path, expiry, claims } = signed;
  // As JSON, so that no two different lists give one text.
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

import { z } from "zod";
import { deprecate } from "./deprecate.ts";

/**
 * How bytes of an upload are checked when they arrive. On today's processors SHA-256 takes less than half of the CPU time of MD5, at either
 * end. MD5 is what older agents and control planes know.
 */
export const DigestAlgorithm = z.enum(["md5", "sha256"]);
export type DigestAlgorithm = z.infer<typeof DigestAlgorithm>;

const Md5Base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/]{22}==$/, "must be the base 64 of an MD5")
  .meta({ description: "Where the opening of the upload did not ask for SHA-256" });
const Sha256Base64 = z.string().regex(/^[A-Za-z0-9+/]{43}=$/, "must be the base 64 of a SHA-256");

export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hexadecimal digits");

/** The number of a part of an upload. */
export const partNumber = z.int().min(1).max(10_000);

/** A digest as it is sent: one of the two. */
export interface DigestFields {
  readonly md5?: string | undefined;
  readonly sha256?: string | undefined;
}

/** The schema of bytes that are sent with their digest: the given fields, and one of the two digests. */
export function withDigest<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object({ ...shape, md5: deprecate(Md5Base64.optional(), "2026-11-23"), sha256: Sha256Base64.optional() })
    .refine(hasOne, { message: "is required, or an MD5", path: ["sha256"] });
}

function hasOne({ md5, sha256 }: { md5?: unknown; sha256?: unknown }): boolean {
  return (md5 === undefined) !== (sha256 === undefined);
}

const SHA256_PREFIX = "sha256:";

/** Makes one text of a digest of either kind: an MD5 is its base 64, as it always was; a SHA-256 has `sha256:` in front. */
export function makeDigest(algorithm: DigestAlgorithm, base64: string): string {
  return algorithm === "sha256" ? `${SHA256_PREFIX}${base64}` : base64;
}

export function algorithmOf(digest: string): DigestAlgorithm {
  return digest.startsWith(SHA256_PREFIX) ? "sha256" : "md5";
}

/** Answers the base 64 of a text that `makeDigest` made. */
export function base64Of(digest: string): string {
  return digest.slice(digest.startsWith(SHA256_PREFIX) ? SHA256_PREFIX.length : 0);
}

export function toDigestFields(digest: string): DigestFields {
  return { [algorithmOf(digest)]: base64Of(digest) };
}

export function digestOf({ md5, sha256 }: DigestFields): string {
  return sha256 === undefined ? md5! : makeDigest("sha256", sha256);
}

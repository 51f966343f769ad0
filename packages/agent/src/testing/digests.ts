import { createHash } from "node:crypto";
import {
  algorithmOf,
  type DigestAlgorithm,
  type DigestFields,
  digestOf,
  makeDigest,
  toDigestFields,
} from "@downlink/protocol";

/** Makes the digest that a sender would send for these bytes. */
export function digestBytes(bytes: Buffer, algorithm: DigestAlgorithm): DigestFields {
  return toDigestFields(makeDigest(algorithm, createHash(algorithm).update(bytes).digest("base64")));
}

export function hasDigest(bytes: Buffer, expected: DigestFields): boolean {
  const digest = digestOf(expected);
  return digestOf(digestBytes(bytes, algorithmOf(digest))) === digest;
}

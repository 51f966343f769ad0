import { createHash } from "node:crypto";
import {
  algorithmOf,
  type DigestAlgorithm,
  digestOf,
  makeDigest,
  type ToldDigest,
  tellDigest,
} from "@downlink/protocol";

/** What a sender tells of these bytes. */
export function digestBytes(bytes: Buffer, algorithm: DigestAlgorithm): ToldDigest {
  return tellDigest(makeDigest(algorithm, createHash(algorithm).update(bytes).digest("base64")));
}

export function hasDigest(bytes: Buffer, expected: ToldDigest): boolean {
  const digest = digestOf(expected);
  return digestOf(digestBytes(bytes, algorithmOf(digest))) === digest;
}

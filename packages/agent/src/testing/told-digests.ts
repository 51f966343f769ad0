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
export function tellBytes(bytes: Buffer, algorithm: DigestAlgorithm): ToldDigest {
  return tellDigest(makeDigest(algorithm, createHash(algorithm).update(bytes).digest("base64")));
}

export function isAsTold(bytes: Buffer, told: ToldDigest): boolean {
  const digest = digestOf(told);
  return digestOf(tellBytes(bytes, algorithmOf(digest))) === digest;
}

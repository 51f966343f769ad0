// Parts are told by SHA-256 where the agent can (`digests` at the opening of an upload, `digest` in the answer),
// because MD5 takes more than twice the CPU time at either end. One upload knows one kind: what is here must be
// compared before it is gone on with, so an agent that cannot compare it begins anew. A bucket that parts are sent to by
// presigned links compares MD5 alone.

import {
  algorithmOf,
  type api,
  type DigestAlgorithm,
  type DigestFields,
  type Input,
  type Output,
  toDigestFields,
} from "@downlink/protocol";
import type { PiecePlan } from "../blobs/blob-store.ts";
import type { Complete } from "../core/complete.ts";

type Edge = typeof api.edge;
type OpenInput = Input<Edge["openUpload"]>;

/**
 * What is here decides: it must be compared. Undefined, and the upload begins anew, where the agent cannot: one of before that is back
 * after a newer one, or with parts of either kind, of which one was on its way while the agent became a newer one.
 */
export function digestFor(
  { digests = ["md5"] }: Pick<OpenInput, "digests">,
  held: readonly { digest: string }[],
  preferred?: DigestAlgorithm,
): DigestAlgorithm | undefined {
  const [known, ...others] = new Set(held.map(({ digest }) => algorithmOf(digest)));
  if (known === undefined && preferred !== undefined && digests.includes(preferred)) return preferred;
  if (known === undefined) return digests.includes("sha256") ? "sha256" : "md5";
  return digests.includes(known) && others.length === 0 ? known : undefined;
}

/** As the wire has it. */
export function toPiece({ offset, lengthBytes, digest }: PiecePlan): Complete<HeldPiece> {
  return { offset, length: lengthBytes, ...digestFields(digest) };
}

type HeldPiece = Output<Edge["grantPieces"]>["held"][number];

/** Of a digest, the two fields of the wire. */
export function digestFields(digest: string): Complete<DigestFields> {
  return { md5: undefined, sha256: undefined, ...toDigestFields(digest) };
}

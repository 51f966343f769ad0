// Parts are announced by SHA-256 if the agent can compute it (`digests` at the opening of an upload, `digest` in the answer), because MD5
// takes more than twice the CPU time on either side. One upload has one kind of digest: an agent compares the stored parts before it goes
// on, so an agent that cannot compare them starts over. A bucket to which parts are sent by presigned links compares only MD5.

import { algorithmOf, type api, type DigestAlgorithm, type Input } from "@downlink/protocol";

type OpenInput = Input<typeof api.edge.openUpload>;

/**
 * The stored parts decide, because the agent must compare them. Returns undefined, and the upload starts over, if it cannot: an older agent
 * has replaced a newer one, or there are parts of both kinds because one was in flight while the agent was updated.
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

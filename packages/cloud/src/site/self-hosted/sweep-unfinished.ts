// Another process may have used the bucket before, on another machine, and may still be receiving. So an unfinished upload there is removed
// only once it is so old, or nothing was added to it for so long, that no process can be about to acknowledge it.

import { dropAbandoned } from "./received-files.ts";
import type { SiteDeps } from "./site-deps.ts";
import { isUpload } from "./upload-key.ts";

const AGE_MS = 7 * 24 * 3600 * 1000;

/** Removes from a bucket what crashes and lost records left of uploads. Files in a folder are removed when the process starts. */
export async function sweepUnfinished({
  blobs,
  uploadRecords,
  clock,
  stopping,
}: Pick<SiteDeps, "blobs" | "uploadRecords" | "clock" | "stopping">): Promise<void> {
  if (!uploadRecords) return;
  const beforeMs = Number(clock.nowNs() / 1_000_000n) - AGE_MS;
  await dropAbandoned(blobs, beforeMs);
  for await (const { key, isWhole, modifiedAtMs } of blobs.list("")) {
    stopping.throwIfAborted();
    const isAbandoned = !isWhole && isUpload(key) && modifiedAtMs < beforeMs && !(await uploadRecords.find(key));
    if (isAbandoned) await blobs.abortUpload(key); // an object that it has become meanwhile stays
  }
}

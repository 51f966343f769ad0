import { findLostUpload } from "../../keeping/manifests/find-lost-upload.ts";
import { findLostEntry } from "../../recovery/find-lost-entry.ts";

/**
 * Finds something that was written to the object store after `sinceMs` and that the database lacks, so that it was set back. Returns what
 * it is; undefined if nothing is lacking.
 */
export async function findLost(
  deps: Parameters<typeof findLostUpload>[0],
  sinceMs: number,
): Promise<string | undefined> {
  const uploadId = await findLostUpload(deps, sinceMs);
  if (uploadId !== undefined) return `upload ${uploadId}`;
  const entryId = await findLostEntry(deps, sinceMs);
  return entryId === undefined ? undefined : `entry ${entryId} of the ledger`;
}

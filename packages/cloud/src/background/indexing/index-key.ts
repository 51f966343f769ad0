import { idFrom, newId } from "../../db/ids.ts";
import type { TransactionContext } from "../jobs/transaction-context.ts";

/**
 * Makes the key of a verified index, which is never used again. The request's row names it before its first byte is written, and then the
 * recording's row does. The index is removed with the data, or when another attempt names a new one; the sweep removes indexes that no row
 * names, because they can be made again.
 */
export function newIndexKey(orgId: string): string {
  return `${orgId}/${newId("idx")}`;
}

/** Returns the key of the verified index of an object at a self-hosted site, which has one index of each object. */
export function siteIndexKey(objectKey: string): string {
  const [orgId, uploadId] = objectKey.split("/") as [string, string];
  return `${orgId}/${idFrom("idx", uploadId)}`;
}

/** Says whether an object is a verified index, which can be made again from its recording. */
export function isIndexKey(key: string): boolean {
  return /^[^/]+\/idx_/.test(key);
}

interface Indexed {
  readonly indexKey: string | null;
}

/** A job removes the index after the commit. The caller's transaction removes the key from the row. */
export async function removeIndex(
  { tx, jobs }: Pick<TransactionContext, "tx" | "jobs">,
  { indexKey }: Indexed,
): Promise<void> {
  if (indexKey !== null) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: indexKey } });
}

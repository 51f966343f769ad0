import { newId } from "../db/ids.ts";
import type { TransactionContext } from "../jobs/transaction-context.ts";

/** The object of a verified index. A row names it before its first byte; it is never used again. */
export function newIndexKey(orgId: string): string {
  return `${orgId}/${newId("idx")}`;
}

/** Whether an object is a verified index: it can be made anew from what it is of. */
export function isIndexKey(key: string): boolean {
  return /^[^/]+\/idx_/.test(key);
}

interface Indexed {
  readonly indexKey: string | null;
}

/** A job removes the index after the commit. The caller's transaction takes the key out of the row. */
export async function removeIndex(
  { tx, jobs }: Pick<TransactionContext, "tx" | "jobs">,
  { indexKey }: Indexed,
): Promise<void> {
  if (indexKey !== null) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: indexKey } });
}

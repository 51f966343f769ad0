import type { Transaction } from "../db/transaction.ts";

interface Deletion {
  readonly id: string;
  readonly importId: string | null;
  readonly blobKey: string | null;
  readonly siteObjectKey: string | null;
}

/**
 * Records that a recording's data was deleted from the control plane, with the keys of all objects that ever held it. A restore of the
 * database does not bring the data back. For an object in a customer's bucket the entry has its row, because the object itself stays, and
 * the next listing would import it again.
 */
export async function recordDeletion(
  tx: Transaction,
  { id, importId, blobKey, siteObjectKey }: Deletion,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO "LedgerEntry" (id, kind, subject, data)
    SELECT downlink_ledger_id(), 'Data.delete', ${id}, jsonb_build_object('importId', ${importId}::text, 'blobKey', k.key,
      'siteObjectKey', ${siteObjectKey}::text,
      'bucketObject', (SELECT to_jsonb(o) FROM "BucketObject" o WHERE o."orgId" || '/' || o.id = k.key AND o.id = split_part(k.key, '/', 2)))
    FROM (
      SELECT ${blobKey}::text AS key
      UNION SELECT u."blobKey" FROM "Upload" u JOIN "ImportRequest" r ON r.id = u."requestId" WHERE r."recordingId" = ${id}
    ) k WHERE coalesce(current_setting('downlink.replays', true), '') <> 'on'`;
}

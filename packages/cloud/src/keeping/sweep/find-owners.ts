import type { Transaction } from "../../db/transaction.ts";
import type { Owners } from "./judge-object.ts";

/** Finds the owner of each key in one statement: a key that changes its owner meanwhile is seen with one of them, never without. */
export async function findOwners(tx: Transaction, keys: readonly string[]): Promise<Map<string, Owners>> {
  const rows = await tx.$queryRaw<({ key: string } & Owners)[]>`
    SELECT k.key, u.state AS "uploadState",
      EXISTS (SELECT 1 FROM "Recording" WHERE "blobKey" = k.key)
        OR EXISTS (SELECT 1 FROM "ImportRequest" WHERE "blobKey" = k.key)
        OR EXISTS (SELECT 1 FROM "Recording" WHERE "indexKey" = k.key)
        OR EXISTS (SELECT 1 FROM "Recording" WHERE "nextIndexKey" = k.key)
        OR EXISTS (SELECT 1 FROM "ImportRequest" WHERE "indexKey" = k.key)
        OR EXISTS (SELECT 1 FROM "ExtensionVersion" WHERE "blobKey" = k.key)
        OR EXISTS (SELECT 1 FROM "ViewLink" WHERE "blobKey" = k.key)
        OR EXISTS (SELECT 1 FROM "TrainingFile" WHERE "blobKey" = k.key)
        OR EXISTS (SELECT 1 FROM "RecordingThumbnails" WHERE "blobKey" = k.key)
        OR EXISTS (
          SELECT 1 FROM pgboss.job WHERE state < 'completed' AND start_after > now() AND data ->> 'blobKey' = k.key) AS "isHeld"
    FROM unnest(${keys}::text[]) AS k(key) LEFT JOIN "Upload" u ON u."blobKey" = k.key`;
  return new Map(rows.map(({ key, ...owners }) => [key, owners]));
}

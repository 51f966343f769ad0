import { type RecordingFormat, siteLimits } from "@downlink/protocol";
import { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";

/** An import needs files by topic as long as its recording has its data at a site that makes them. `l` is a row with `importId` and `siteId`. */
const IS_NEEDED = Prisma.sql`EXISTS (SELECT FROM "Recording" r JOIN "Site" s ON s.id = r."siteId"
  WHERE r."importId" = l."importId" AND r."siteId" = l."siteId" AND r."siteObjectKey" IS NOT NULL AND s."indexingStrategy" = 'split-files')`;

export interface WantedLake {
  readonly importId: string;
  /** The key of the recording's data. */
  readonly key: string;
  readonly format: RecordingFormat;
}

/**
 * Finds recordings at a site whose files by topic are to be made. A damaged recording is not split, because its exports say what is lost.
 */
export function findWantedLakes(tx: Transaction, siteId: string): Promise<WantedLake[]> {
  return tx.$queryRaw<WantedLake[]>`
    SELECT r."importId", r."siteObjectKey" AS key, r.format
    FROM "Site" s JOIN "SiteObject" o ON o."siteId" = s.id JOIN "Recording" r ON r."siteObjectKey" = o.key
    WHERE s.id = ${siteId} AND s."indexingStrategy" = 'split-files' AND r."importStatus" = 'complete' AND r.damage IS NULL
      AND NOT EXISTS (SELECT FROM "Lake" l WHERE l."importId" = r."importId" AND l.state <> 'reporting')
    ORDER BY o.key LIMIT ${siteLimits.lakesPerList}`;
}

/** Finds imports that the site has reported files of, and that need none any more. */
export async function findUnneededLakes(tx: Transaction, siteId: string): Promise<string[]> {
  const rows = await tx.$queryRaw<{ importId: string }[]>`
    SELECT l."importId" FROM "Lake" l WHERE l."siteId" = ${siteId} AND NOT ${IS_NEEDED}
    ORDER BY l."importId" LIMIT ${siteLimits.itemsPerList}`;
  return rows.map(({ importId }) => importId);
}

/** Answers those of the imports that need files by topic at the site, and of which none were refused. */
export async function keepNeeded(tx: Transaction, siteId: string, importIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.$queryRaw<{ importId: string }[]>`
    SELECT l."importId" FROM (SELECT unnest(${importIds}::text[]) AS "importId", ${siteId}::text AS "siteId") l
    WHERE ${IS_NEEDED}
      AND NOT EXISTS (SELECT FROM "Lake" k WHERE k."importId" = l."importId" AND k.state = 'refused')`;
  return new Set(rows.map(({ importId }) => importId));
}

import type { Moment } from "../../background/jobs/transaction-context.ts";

const CODE = "SiteDeleted";
const TEXT = "the self-hosted site that has the data, or was to get it, was deleted";

/**
 * The data at a deleted self-hosted site is out of reach for good, and stays there untouched: its recordings say so, its imports end, and
 * copies on devices that were refused as duplicates of these recordings can be imported again.
 */
export async function loseSiteData({ tx, nowNs }: Moment, siteId: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE "ImportRequest" q SET "isAcknowledged" = false, "isOver" = true
    FROM "Recording" copy JOIN "Recording" r ON r.id = copy."duplicateOfId"
    WHERE q."recordingId" = copy.id AND q.source = 'edge' AND q.state = 'error'
      AND r."siteId" = ${siteId} AND r."siteObjectKey" IS NOT NULL`;
  await tx.$executeRaw`
    UPDATE "Recording" copy
    SET "importStatus" = 'none', "failureCode" = NULL, "failureText" = NULL, "duplicateOfId" = NULL
    FROM "Recording" r
    WHERE r.id = copy."duplicateOfId" AND copy."importStatus" = 'failed'
      AND r."siteId" = ${siteId} AND r."siteObjectKey" IS NOT NULL`;
  await tx.$executeRaw`
    UPDATE "RecordingTopic" t SET "importedProjectId" = NULL, "importedDeviceId" = NULL, "importedStartNs" = NULL, "importedEndNs" = NULL
    FROM "Recording" r WHERE r.id = t."recordingId" AND r."siteId" = ${siteId} AND r."siteObjectKey" IS NOT NULL`;
  await tx.$executeRaw`
    UPDATE "Recording" SET "importStatus" = 'failed', "failureCode" = ${CODE}, "failureText" = ${TEXT}, "siteObjectKey" = NULL,
      "importId" = NULL, "importedAtNs" = NULL, "contentSha256" = NULL, damage = NULL
    WHERE "siteId" = ${siteId} AND "siteObjectKey" IS NOT NULL`;
  await tx.$executeRaw`
    UPDATE "Recording" r SET "importStatus" = 'failed', "failureCode" = ${CODE}, "failureText" = ${TEXT}
    FROM "ImportRequest" q WHERE q."recordingId" = r.id AND q."siteId" = ${siteId} AND q.source = 'edge'
      AND q.state IN ('awaiting', 'received', 'processing', 'ready for indexing') AND r."importStatus" IN ('pending', 'importing')`;
  await tx.$executeRaw`
    UPDATE "ImportRequest" SET state = 'error', "errorCode" = ${CODE}, "errorText" = ${TEXT}, "siteObjectKey" = NULL,
      "quarantinedAtNs" = ${nowNs}, "nextAttemptAtNs" = NULL, "updatedAtNs" = ${nowNs}
    WHERE "siteId" = ${siteId} AND state IN ('awaiting', 'received', 'processing', 'ready for indexing')`;
  await tx.$executeRaw`UPDATE "ImportRequest" SET "siteObjectKey" = NULL WHERE "siteId" = ${siteId} AND "siteObjectKey" IS NOT NULL`;
}

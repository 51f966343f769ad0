import type { Moment } from "../../background/jobs/transaction-context.ts";
import { Prisma } from "../../db/generated/client.ts";
import { lossText } from "./lose-object.ts";

/**
 * The recordings of a customer's bucket become unavailable for good when its site is deleted, and their imports end. The bucket stays as it is. The caller deletes the site; the sweep removes the indexes and the pictures.
 */
export async function forgetBucket({ tx, nowNs }: Moment, siteId: string): Promise<void> {
  const ids = Prisma.sql`SELECT id FROM "Recording" WHERE "siteId" = ${siteId}`;
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE "siteId" = ${siteId} ORDER BY id FOR UPDATE`;
  await tx.$executeRaw`
    UPDATE "Import" SET "deletedAtNs" = ${nowNs} WHERE "siteId" = ${siteId} AND "deletedAtNs" IS NULL`;
  await tx.$executeRaw`UPDATE "RecordingAttachment" SET "siteId" = NULL WHERE "recordingId" IN (${ids})`;
  await tx.$executeRaw`
    UPDATE "RecordingTopic" SET "importedProjectId" = NULL, "importedDeviceId" = NULL, "importedStartNs" = NULL, "importedEndNs" = NULL
    WHERE "recordingId" IN (${ids})`;
  await tx.$executeRaw`DELETE FROM "RecordingThumbnails" WHERE "recordingId" IN (${ids})`;
  await askDevicesAgain(tx, siteId);
  await tx.$executeRaw`
    UPDATE "ImportRequest" SET state = 'error', "errorCode" = 'SiteDeleted', "errorText" = ${lossText("SiteDeleted")},
      "nextAttemptAtNs" = NULL, "updatedAtNs" = ${nowNs}
    WHERE "siteId" = ${siteId} AND state IN ('received', 'processing', 'ready for indexing')`;
  await tx.$executeRaw`UPDATE "ImportRequest" SET "blobKey" = NULL, "indexKey" = NULL WHERE "siteId" = ${siteId}`;
  await tx.$executeRaw`
    UPDATE "Recording" SET "importStatus" = 'failed', "failureCode" = 'SiteDeleted', "failureText" = ${lossText("SiteDeleted")},
      "siteId" = NULL, "importId" = NULL, "importedAtNs" = NULL, "contentSha256" = NULL, "blobKey" = NULL, location = NULL,
      "indexKey" = NULL, "nextIndexKey" = NULL, damage = NULL
    WHERE "siteId" = ${siteId}`;
}

/** Copies on devices that were refused as duplicates of these recordings are at the edge again, as if they had never been requested. */
async function askDevicesAgain(tx: Moment["tx"], siteId: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE "ImportRequest" q SET "isAcknowledged" = false, "isOver" = true
    FROM "Recording" copy JOIN "Recording" r ON r.id = copy."duplicateOfId"
    WHERE q."recordingId" = copy.id AND q.source = 'edge' AND q.state = 'error' AND r."siteId" = ${siteId}`;
  await tx.$executeRaw`
    UPDATE "Recording" copy SET "importStatus" = 'none', "failureCode" = NULL, "failureText" = NULL, "duplicateOfId" = NULL
    FROM "Recording" r WHERE r.id = copy."duplicateOfId" AND copy."importStatus" = 'failed' AND r."siteId" = ${siteId}`;
}

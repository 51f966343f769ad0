-- AlterTable
ALTER TABLE "Deployment" ADD COLUMN     "scrubDueBytes" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "scrubbedAtNs" BIGINT;

-- Stored data is read again in the order of its last reading; the conditions are those of packages/cloud/src/db/stored-data.ts.
CREATE INDEX "Recording_read_at" ON "Recording" (coalesce("verifiedAtNs", "importedAtNs", 0), id)
  WHERE "importStatus" = 'complete' AND "storedDamage" IS NULL AND "contentSha256" IS NOT NULL AND "blobKey" IS NOT NULL
  AND "blobKey" NOT LIKE '%/obj\_%';

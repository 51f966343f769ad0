-- AlterTable
ALTER TABLE "ViewLink" ADD COLUMN     "blobKey" TEXT,
ADD COLUMN     "failureText" TEXT,
ADD COLUMN     "isCopy" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "isFile" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "lastReadAtNs" BIGINT,
ADD COLUMN     "sha256" TEXT,
ADD COLUMN     "sizeBytes" BIGINT,
ADD COLUMN     "state" TEXT NOT NULL DEFAULT 'ready';

ALTER TABLE "ViewLink" ADD CONSTRAINT "ViewLink_state_is_known" CHECK ("state" IN ('preparing', 'ready', 'failed'));

-- CreateIndex
CREATE INDEX "ViewLink_blobKey_idx" ON "ViewLink"("blobKey");

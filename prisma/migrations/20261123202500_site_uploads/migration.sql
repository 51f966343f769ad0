-- AlterTable
ALTER TABLE "Site" ADD COLUMN     "provesInIncarnation" TEXT;

-- AlterTable
ALTER TABLE "SiteObject" ADD COLUMN     "askedSinceNs" BIGINT,
ADD COLUMN     "confirmedAtNs" BIGINT;

-- AlterTable
ALTER TABLE "SiteProcess" ADD COLUMN     "proofsHeldUntilNs" BIGINT;

-- CreateTable
CREATE TABLE "SiteUpload" (
    "id" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "requestId" TEXT NOT NULL,
    "versionId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "modifiedAtNs" BIGINT NOT NULL,
    "partSizeBytes" BIGINT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "isSuperseded" BOOLEAN NOT NULL DEFAULT false,
    "capableUntilNs" BIGINT NOT NULL,

    CONSTRAINT "SiteUpload_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "SiteUpload_key_key" ON "SiteUpload"("key");

-- CreateIndex
CREATE INDEX "SiteUpload_requestId_idx" ON "SiteUpload"("requestId");

-- CreateIndex
CREATE INDEX "SiteUpload_siteId_capableUntilNs_idx" ON "SiteUpload"("siteId", "capableUntilNs");

-- AddForeignKey
ALTER TABLE "SiteUpload" ADD CONSTRAINT "SiteUpload_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Hardly any object is asked for at a time.
CREATE INDEX "SiteObject_asked" ON "SiteObject"("siteId", "askedSinceNs") WHERE "askedSinceNs" IS NOT NULL;

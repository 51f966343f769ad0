-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "location" TEXT;

-- CreateTable
CREATE TABLE "SiteBucket" (
    "siteId" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "bucket" TEXT NOT NULL,
    "prefix" TEXT NOT NULL DEFAULT '',
    "endpoint" TEXT,
    "region" TEXT,
    "azureStorageAccountName" TEXT,
    "credentials" TEXT,
    "listingSinceNs" BIGINT,
    "listedUntil" TEXT COLLATE "C" NOT NULL DEFAULT '',
    "listedAtNs" BIGINT,
    "problem" TEXT,
    "problemSinceNs" BIGINT,

    CONSTRAINT "SiteBucket_pkey" PRIMARY KEY ("siteId")
);

-- CreateTable
CREATE TABLE "IngestPathPolicy" (
    "siteId" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "policy" JSONB NOT NULL,

    CONSTRAINT "IngestPathPolicy_pkey" PRIMARY KEY ("siteId","revision")
);

-- CreateTable
CREATE TABLE "BucketObject" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "state" TEXT NOT NULL,
    "versionId" TEXT,
    "etag" TEXT,
    "sizeBytes" BIGINT,
    "modifiedAtNs" BIGINT,
    "policyRevision" INTEGER NOT NULL DEFAULT 0,
    "deviceId" TEXT,
    "deviceName" TEXT,
    "projectId" TEXT,
    "isDue" BOOLEAN NOT NULL DEFAULT true,
    "looks" INTEGER NOT NULL DEFAULT 0,
    "seenAtNs" BIGINT,
    "goneAtNs" BIGINT,
    "requestId" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "BucketObject_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "BucketObject_requestId_key" ON "BucketObject"("requestId");

-- AddForeignKey
ALTER TABLE "SiteBucket" ADD CONSTRAINT "SiteBucket_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IngestPathPolicy" ADD CONSTRAINT "IngestPathPolicy_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "BucketObject" ADD CONSTRAINT "BucketObject_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A bucket has one object of a name at a time.
CREATE UNIQUE INDEX "BucketObject_siteId_name_now" ON "BucketObject"("siteId", "name") WHERE "goneAtNs" IS NULL;
-- An object that comes back is recognized.
CREATE INDEX "BucketObject_siteId_name_gone" ON "BucketObject"("siteId", "name") WHERE "goneAtNs" IS NOT NULL;
-- What waits for somebody to look at it, the longest first.
CREATE INDEX "BucketObject_due" ON "BucketObject"("updatedAtNs") WHERE "isDue";

ALTER TABLE "SiteBucket" ADD CONSTRAINT "SiteBucket_provider_is_known"
  CHECK ("provider" IN ('google_cloud', 'aws', 'azure', 's3_compatible'));
ALTER TABLE "BucketObject" ADD CONSTRAINT "BucketObject_state_is_known" CHECK ("state" IN ('noted', 'ignored', 'requested'));
ALTER TABLE "ImportRequest" DROP CONSTRAINT "ImportRequest_source_is_known";
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_source_is_known"
  CHECK ("source" IN ('upload', 'edge', 'salvage', 'bucket')) NOT VALID;

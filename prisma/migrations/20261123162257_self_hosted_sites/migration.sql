-- DropForeignKey
ALTER TABLE "ImportRequest" DROP CONSTRAINT "ImportRequest_siteId_fkey";

-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "siteObjectKey" TEXT;

-- AlterTable
ALTER TABLE "Project" ADD COLUMN     "primarySiteId" TEXT;

-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "siteObjectKey" TEXT;

-- CreateTable
CREATE TABLE "SiteProcess" (
    "siteId" TEXT NOT NULL,
    "leaseNumber" BIGINT NOT NULL,
    "leaseInstanceId" TEXT NOT NULL,
    "leaseExpiresAtNs" BIGINT NOT NULL,
    "lastSeenAtNs" BIGINT NOT NULL,
    "programVersion" TEXT NOT NULL,
    "storeKind" TEXT NOT NULL,
    "url" TEXT,
    "storeId" TEXT NOT NULL,
    "storeStarts" BIGINT NOT NULL,

    CONSTRAINT "SiteProcess_pkey" PRIMARY KEY ("siteId")
);

-- CreateTable
CREATE TABLE "SiteKey" (
    "id" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "savedAtNs" BIGINT,

    CONSTRAINT "SiteKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SiteObject" (
    "key" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "requestId" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "unnamedSinceNs" BIGINT,

    CONSTRAINT "SiteObject_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "SiteFindingsPiece" (
    "requestId" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "SiteFindingsPiece_pkey" PRIMARY KEY ("requestId","attempt","number")
);

-- CreateIndex
CREATE INDEX "SiteKey_siteId_createdAtNs_idx" ON "SiteKey"("siteId", "createdAtNs");

-- CreateIndex
CREATE INDEX "SiteObject_siteId_key_idx" ON "SiteObject"("siteId", "key");

-- CreateIndex
CREATE UNIQUE INDEX "ImportRequest_siteObjectKey_key" ON "ImportRequest"("siteObjectKey");

-- CreateIndex
CREATE UNIQUE INDEX "Recording_siteObjectKey_key" ON "Recording"("siteObjectKey");

-- AddForeignKey
ALTER TABLE "Project" ADD CONSTRAINT "Project_primarySiteId_fkey" FOREIGN KEY ("primarySiteId") REFERENCES "Site"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SiteProcess" ADD CONSTRAINT "SiteProcess_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SiteKey" ADD CONSTRAINT "SiteKey_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SiteObject" ADD CONSTRAINT "SiteObject_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SiteFindingsPiece" ADD CONSTRAINT "SiteFindingsPiece_requestId_fkey" FOREIGN KEY ("requestId") REFERENCES "ImportRequest"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The kinds of store that the schema names are those that the column takes.
ALTER TABLE "SiteProcess" ADD CONSTRAINT "SiteProcess_storeKind_is_known" CHECK ("storeKind" IN ('file', 's3', 'azure'));

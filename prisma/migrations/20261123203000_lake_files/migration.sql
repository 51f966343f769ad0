-- AlterTable
ALTER TABLE "Site" ADD COLUMN     "indexingStrategy" TEXT NOT NULL DEFAULT 'whole-files';

-- CreateTable
CREATE TABLE "Lake" (
    "importId" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "pages" INTEGER NOT NULL DEFAULT 0,
    "refusal" TEXT,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "Lake_pkey" PRIMARY KEY ("importId")
);

-- CreateTable
CREATE TABLE "LakeFile" (
    "importId" TEXT NOT NULL,
    "topicHash" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "messageCount" BIGINT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,

    CONSTRAINT "LakeFile_pkey" PRIMARY KEY ("importId","topicHash")
);

-- CreateIndex
CREATE INDEX "Lake_siteId_idx" ON "Lake"("siteId");

-- AddForeignKey
ALTER TABLE "Lake" ADD CONSTRAINT "Lake_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "LakeFile" ADD CONSTRAINT "LakeFile_importId_fkey" FOREIGN KEY ("importId") REFERENCES "Lake"("importId") ON DELETE CASCADE ON UPDATE CASCADE;

-- The states that the schema names are those that the columns take.
ALTER TABLE "Site" ADD CONSTRAINT "Site_indexingStrategy_is_known" CHECK ("indexingStrategy" IN ('split-files', 'whole-files'));
ALTER TABLE "Lake" ADD CONSTRAINT "Lake_state_is_known" CHECK ("state" IN ('reporting', 'listed', 'refused'));

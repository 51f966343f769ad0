-- AlterTable
ALTER TABLE "SiteObject" ADD COLUMN     "seenIn" TEXT;

-- AlterTable
ALTER TABLE "SiteProcess" ADD COLUMN     "isListed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "relistId" TEXT,
ADD COLUMN     "relistedAtNs" BIGINT,
ADD COLUMN     "storeMark" TEXT;

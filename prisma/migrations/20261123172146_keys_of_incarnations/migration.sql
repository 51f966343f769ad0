-- AlterTable
ALTER TABLE "SiteKey" ADD COLUMN     "incarnation" TEXT NOT NULL DEFAULT '';

-- The keys of before end, and each site gets a new one with its next call.
ALTER TABLE "SiteKey" ALTER COLUMN "incarnation" DROP DEFAULT;

-- AlterTable
ALTER TABLE "Agent" ADD COLUMN     "listedIncarnation" TEXT;

-- AlterTable
ALTER TABLE "EdgeFile" ADD COLUMN     "firstReportedAtNs" BIGINT,
ADD COLUMN     "permitExpiresAtNs" BIGINT,
ADD COLUMN     "permitId" TEXT;

-- What was reported last can only be later than what was reported first: a file waits longer before it may be deleted.
UPDATE "EdgeFile" SET "firstReportedAtNs" = "reportedAtNs";
ALTER TABLE "EdgeFile" ALTER COLUMN "firstReportedAtNs" SET NOT NULL;

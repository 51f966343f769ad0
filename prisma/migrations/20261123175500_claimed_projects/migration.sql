-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "claimedProjectId" TEXT;

-- What was not resolved yet was only named.
UPDATE "ImportRequest" SET "claimedProjectId" = "projectId" WHERE source = 'bucket' AND state <> 'complete';

-- AlterTable
ALTER TABLE "SiteBucket" ADD COLUMN     "turnUntilNs" BIGINT;

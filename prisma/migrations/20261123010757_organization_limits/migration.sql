-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "maxExports" INTEGER,
ADD COLUMN     "maxRecordings" INTEGER,
ADD COLUMN     "maxStoredBytes" BIGINT;

-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "requestedBy" JSONB;

-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "createdBy" JSONB;

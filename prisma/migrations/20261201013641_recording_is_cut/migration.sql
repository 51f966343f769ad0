-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "isCut" BOOLEAN NOT NULL DEFAULT false;

UPDATE "Recording" SET "isCut" = true WHERE id IN (SELECT "recordingId" FROM "Cut" WHERE "recordingId" IS NOT NULL);

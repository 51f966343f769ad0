-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "isOver" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "duplicateOfId" TEXT;

-- Hardly any recording is a duplicate: the index holds those alone.
CREATE INDEX "Recording_duplicateOfId_duplicates" ON "Recording"("duplicateOfId") WHERE "duplicateOfId" IS NOT NULL;

-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "salvageOfId" TEXT;

-- AddForeignKey
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_salvageOfId_fkey" FOREIGN KEY ("salvageOfId") REFERENCES "ImportRequest"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Hardly any request is a salvage: the index holds those alone.
CREATE INDEX "ImportRequest_salvageOfId_salvages" ON "ImportRequest"("salvageOfId") WHERE "salvageOfId" IS NOT NULL;

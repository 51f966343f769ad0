-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "indexKey" TEXT;

-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "damage" TEXT,
ADD COLUMN     "indexKey" TEXT,
ADD COLUMN     "nextIndexKey" TEXT;

-- AlterTable
ALTER TABLE "RecordingTopic" ADD COLUMN     "channelsKey" TEXT;

-- Only imported recordings have one: what agents report is not slowed down.
CREATE UNIQUE INDEX "ImportRequest_indexKey_key" ON "ImportRequest"("indexKey") WHERE "indexKey" IS NOT NULL;
CREATE UNIQUE INDEX "Recording_indexKey_key" ON "Recording"("indexKey") WHERE "indexKey" IS NOT NULL;
CREATE UNIQUE INDEX "Recording_nextIndexKey_key" ON "Recording"("nextIndexKey") WHERE "nextIndexKey" IS NOT NULL;

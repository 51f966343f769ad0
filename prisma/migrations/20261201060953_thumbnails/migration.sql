-- AlterTable
ALTER TABLE "Project" ADD COLUMN     "makesThumbnails" BOOLEAN NOT NULL DEFAULT true;

-- CreateTable
CREATE TABLE "RecordingThumbnails" (
    "recordingId" TEXT NOT NULL,
    "blobKey" TEXT,
    "reason" TEXT,
    "topics" JSONB NOT NULL DEFAULT '[]',
    "madeAtNs" BIGINT NOT NULL,

    CONSTRAINT "RecordingThumbnails_pkey" PRIMARY KEY ("recordingId")
);

-- CreateIndex
CREATE INDEX "RecordingThumbnails_blobKey_idx" ON "RecordingThumbnails"("blobKey");

-- AddForeignKey
ALTER TABLE "RecordingThumbnails" ADD CONSTRAINT "RecordingThumbnails_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE CASCADE ON UPDATE CASCADE;

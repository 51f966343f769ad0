-- CreateTable
CREATE TABLE "RecordingSpan" (
    "recordingId" TEXT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,

    CONSTRAINT "RecordingSpan_pkey" PRIMARY KEY ("recordingId","startNs")
);

-- AddForeignKey
ALTER TABLE "RecordingSpan" ADD CONSTRAINT "RecordingSpan_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE CASCADE ON UPDATE CASCADE;

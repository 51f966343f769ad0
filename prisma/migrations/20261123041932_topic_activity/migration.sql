-- CreateTable
CREATE TABLE "RecordingTopicActivity" (
    "recordingId" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "maxGapNs" BIGINT,
    "activity" BYTEA,

    CONSTRAINT "RecordingTopicActivity_pkey" PRIMARY KEY ("recordingId","topic","version")
);

-- AddForeignKey
ALTER TABLE "RecordingTopicActivity" ADD CONSTRAINT "RecordingTopicActivity_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE CASCADE ON UPDATE CASCADE;

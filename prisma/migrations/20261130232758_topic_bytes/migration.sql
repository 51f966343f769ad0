-- AlterTable
ALTER TABLE "RecordingTopic" ADD COLUMN     "bytes" BIGINT;

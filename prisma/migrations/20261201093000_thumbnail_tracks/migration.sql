-- AlterTable
ALTER TABLE "RecordingThumbnails" ADD COLUMN     "track" JSONB;

-- Those of recordings with positions are made again, with their track, when someone looks at them.
DELETE FROM "RecordingThumbnails" t USING "RecordingTopic" r
WHERE r."recordingId" = t."recordingId" AND r."schemaName" ~ '(^|[./])(NavSatFix|LocationFix)$';

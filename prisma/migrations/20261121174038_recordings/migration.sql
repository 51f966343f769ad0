-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "edgeSiteId" TEXT;

-- AlterTable
ALTER TABLE "RecordingAttachment" ADD COLUMN     "fingerprint" TEXT;

-- CreateTable
CREATE TABLE "Import" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "recordingId" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "deviceId" TEXT,
    "deviceName" TEXT,
    "filename" TEXT NOT NULL,
    "importedAtNs" BIGINT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,
    "format" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "deletedAtNs" BIGINT,

    CONSTRAINT "Import_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Import_orgId_id_idx" ON "Import"("orgId", "id");

-- CreateIndex
CREATE INDEX "Import_orgId_importedAtNs_id_idx" ON "Import"("orgId", "importedAtNs", "id");

-- CreateIndex
CREATE INDEX "Import_recordingId_idx" ON "Import"("recordingId");

-- AddForeignKey
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_edgeSiteId_fkey" FOREIGN KEY ("edgeSiteId") REFERENCES "Site"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What was imported before imports had rows of their own
INSERT INTO "Import" (id, "orgId", "projectId", "recordingId", "siteId", "deviceId", "deviceName", "filename", "importedAtNs", "startNs", "endNs", "format", "sizeBytes")
  SELECT r."importId", r."orgId", r."projectId", r.id, r."siteId", r."deviceId", d.name, r.path, r."importedAtNs", r."startNs", r."endNs", r.format, r."sizeBytes"
  FROM "Recording" r LEFT JOIN "Device" d ON d.id = r."deviceId"
  WHERE r."importId" IS NOT NULL AND r."siteId" IS NOT NULL AND r."importedAtNs" IS NOT NULL;

-- Reports of agents: in the order of their sequence
ALTER TABLE "Agent" DROP COLUMN "listingId",
ADD COLUMN     "reportSequence" BIGINT NOT NULL DEFAULT 0;

-- An agent that lost its state names its files anew: they are found by their paths, which are too long for an index
CREATE INDEX "EdgeFile_agentId_path" ON "EdgeFile"("agentId", hashtextextended("path", 0));

-- The list of edge files shows those that are no recordings, of all or of one device, in the order of their reports; by the
-- state at the end of the index it is looked for without the rows
DROP INDEX "EdgeFile_orgId_deviceId_state_idx";
CREATE INDEX "EdgeFile_orgId_reportedAtNs_id_listed" ON "EdgeFile"("orgId", "reportedAtNs", "id", "state") WHERE "state" <> 'indexed';
CREATE INDEX "EdgeFile_deviceId_reportedAtNs_id_listed" ON "EdgeFile"("deviceId", "reportedAtNs", "id", "state") WHERE "state" <> 'indexed';

-- Where the patience with an import began anew
ALTER TABLE "ImportRequest" ADD COLUMN     "attemptsBefore" INTEGER NOT NULL DEFAULT 0;

-- Import requests keep the id of a device that was deleted, so that they fail and are never taken for those of no device
ALTER TABLE "ImportRequest" DROP CONSTRAINT "ImportRequest_deviceId_fkey";

-- and the device's name, to be found and sorted by
UPDATE "ImportRequest" r SET "deviceName" = d.name FROM "Device" d WHERE d.id = r."deviceId";

-- Lists of recordings: an order each
CREATE INDEX "Recording_orgId_endNs_id_idx" ON "Recording"("orgId", "endNs", "id");
CREATE INDEX "Recording_orgId_durationNs_id_idx" ON "Recording"("orgId", "durationNs", "id");
CREATE INDEX "Recording_orgId_importedAtNs_id_imported" ON "Recording"("orgId", "importedAtNs", "id") WHERE "importedAtNs" IS NOT NULL;
-- of paths by their first characters, because an index holds no longer ones; byte by byte, so that they sort as the whole do
CREATE INDEX "Recording_orgId_path_start" ON "Recording"("orgId", (left("path", 200) COLLATE "C"));
-- and by start with what a list of a long time is sorted by, so that it reads the index alone
DROP INDEX "Recording_orgId_startNs_id_idx";
CREATE INDEX "Recording_orgId_startNs_id_covering" ON "Recording"("orgId", "startNs", "id", "createdAtNs", "durationNs", "importedAtNs");

-- Recordings by what they are filtered by, in the order of their creation
CREATE INDEX "Recording_projectId_createdAtNs_id_idx" ON "Recording"("projectId", "createdAtNs", "id");
CREATE INDEX "Recording_orgId_importStatus_createdAtNs_id_idx" ON "Recording"("orgId", "importStatus", "createdAtNs", "id");
CREATE INDEX "Recording_orgId_createdAtNs_id_deviceless" ON "Recording"("orgId", "createdAtNs", "id") WHERE "deviceId" IS NULL;
CREATE INDEX "Recording_siteId_createdAtNs_id_imported" ON "Recording"("siteId", "createdAtNs", "id") WHERE "siteId" IS NOT NULL;
CREATE INDEX "Recording_edgeSiteId_createdAtNs_id" ON "Recording"("edgeSiteId", "createdAtNs", "id") WHERE "edgeSiteId" IS NOT NULL;

-- Recordings of more than a day: the only ones that may reach into a span of time from far before or after it
CREATE INDEX "Recording_orgId_startNs_long" ON "Recording"("orgId", "startNs") WHERE "durationNs" > 86400000000000;

-- Metadata: keys and values, and parts of them
CREATE INDEX "Recording_metadata_idx" ON "Recording" USING GIN ("metadata");
CREATE INDEX "Recording_metadata_text" ON "Recording" USING gin (lower("metadata"::text) gin_trgm_ops);

-- Few recordings have a key, and only imported ones a hash: an index of the others' nulls is one to write in every report
DROP INDEX "Recording_projectId_key_idx";
CREATE INDEX "Recording_orgId_key" ON "Recording"("orgId", "key") WHERE "key" IS NOT NULL;
DROP INDEX "Recording_orgId_contentSha256_idx";
CREATE INDEX "Recording_orgId_contentSha256_imported" ON "Recording"("orgId", "contentSha256") WHERE "contentSha256" IS NOT NULL;

-- Attachments are listed of what a primary site holds, by org, device or site: without a look at their recordings, because most
-- recordings, and with them most attachments, stay at the edge
ALTER TABLE "RecordingAttachment" ADD COLUMN     "deviceId" TEXT,
ADD COLUMN     "orgId" TEXT,
ADD COLUMN     "projectId" TEXT,
ADD COLUMN     "siteId" TEXT;
ALTER TABLE "RecordingAttachment" ADD CONSTRAINT "RecordingAttachment_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE SET NULL ON UPDATE CASCADE;
UPDATE "RecordingAttachment" a SET "siteId" = r."siteId", "orgId" = r."orgId", "projectId" = r."projectId", "deviceId" = r."deviceId"
  FROM "Recording" r WHERE r.id = a."recordingId" AND r."importStatus" = 'complete';
CREATE INDEX "RecordingAttachment_orgId_logTimeNs_id_held" ON "RecordingAttachment"("orgId", "logTimeNs", "id") WHERE "siteId" IS NOT NULL;
CREATE INDEX "RecordingAttachment_deviceId_logTimeNs_id_held" ON "RecordingAttachment"("deviceId", "logTimeNs", "id") WHERE "siteId" IS NOT NULL;
CREATE INDEX "RecordingAttachment_siteId_logTimeNs_id_held" ON "RecordingAttachment"("siteId", "logTimeNs", "id") WHERE "siteId" IS NOT NULL;

-- Coverage: recordings of more than a day by the time that they span, so that no window reads all the earlier ones
CREATE INDEX "Recording_deviceId_span_long" ON "Recording" USING gist ("deviceId", downlink_span("startNs", "endNs")) WHERE "durationNs" > 86400000000000;

-- Lists of topics go from one topic to the next, past all recordings that have it: of projects, or of a device
ALTER TABLE "RecordingTopic" ADD COLUMN     "importedDeviceId" TEXT,
ADD COLUMN     "importedEndNs" BIGINT,
ADD COLUMN     "importedProjectId" TEXT,
ADD COLUMN     "importedStartNs" BIGINT;
UPDATE "RecordingTopic" t SET "importedProjectId" = r."projectId", "importedDeviceId" = r."deviceId", "importedStartNs" = r."startNs", "importedEndNs" = r."endNs"
  FROM "Recording" r WHERE r.id = t."recordingId" AND r."importStatus" = 'complete';
CREATE INDEX "RecordingTopic_imported_in_project" ON "RecordingTopic"("importedProjectId", "topic", "version", "importedStartNs", "importedEndNs") WHERE "importedProjectId" IS NOT NULL;
CREATE INDEX "RecordingTopic_imported_of_device" ON "RecordingTopic"("importedDeviceId", "topic", "version", "importedStartNs", "importedEndNs") WHERE "importedDeviceId" IS NOT NULL;

-- Import requests: an order each, and what they are filtered by
DROP INDEX "ImportRequest_orgId_state_updatedAtNs_idx";
CREATE INDEX "ImportRequest_orgId_updatedAtNs_id_idx" ON "ImportRequest"("orgId", "updatedAtNs", "id");
CREATE INDEX "ImportRequest_orgId_id_idx" ON "ImportRequest"("orgId", "id");
CREATE INDEX "ImportRequest_orgId_deviceId_id_idx" ON "ImportRequest"("orgId", "deviceId", "id");
CREATE INDEX "ImportRequest_orgId_deviceName_id_idx" ON "ImportRequest"("orgId", "deviceName", "id");
CREATE INDEX "ImportRequest_orgId_importId_id_idx" ON "ImportRequest"("orgId", "importId", "id");
CREATE INDEX "ImportRequest_orgId_key_idx" ON "ImportRequest"("orgId", "key");
CREATE INDEX "ImportRequest_orgId_sessionKey_idx" ON "ImportRequest"("orgId", "sessionKey");
CREATE INDEX "ImportRequest_sessionId_idx" ON "ImportRequest"("sessionId");
CREATE INDEX "ImportRequest_projectId_idx" ON "ImportRequest"("projectId");
CREATE INDEX "ImportRequest_siteId_idx" ON "ImportRequest"("siteId");
-- file names by a hash, because an index holds no longer ones
CREATE INDEX "ImportRequest_orgId_filename" ON "ImportRequest"("orgId", md5("filename"));

-- Of import requests nearly all are complete: those that are not, in the same orders, and errors by what only they have
CREATE INDEX "ImportRequest_orgId_createdAtNs_id_open" ON "ImportRequest"("orgId", "createdAtNs", "id") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_updatedAtNs_id_open" ON "ImportRequest"("orgId", "updatedAtNs", "id") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_id_open" ON "ImportRequest"("orgId", "id") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_deviceId_id_open" ON "ImportRequest"("orgId", "deviceId", "id") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_deviceName_id_open" ON "ImportRequest"("orgId", "deviceName", "id") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
UPDATE "ImportRequest" SET "errorText" = left("errorText", 600) WHERE length("errorText") > 600;
CREATE INDEX "ImportRequest_orgId_errorText_id_error" ON "ImportRequest"("orgId", "errorText", "id") WHERE "state" = 'error';
CREATE INDEX "ImportRequest_filename_part_error" ON "ImportRequest" USING gin ("filename" gin_trgm_ops) WHERE "state" = 'error';

-- What the sweep looks for: imports that nobody works on, and upload links that nobody used
CREATE INDEX "ImportRequest_updatedAtNs_working" ON "ImportRequest"("updatedAtNs") WHERE "state" IN ('received', 'processing', 'ready for indexing');
CREATE INDEX "ImportRequest_createdAtNs_awaiting" ON "ImportRequest"("createdAtNs") WHERE "state" = 'awaiting';

-- Imports: an order each, file names by a hash, and the time of their data
CREATE INDEX "Import_orgId_deviceId_id_idx" ON "Import"("orgId", "deviceId", "id");
CREATE INDEX "Import_orgId_startNs_id_idx" ON "Import"("orgId", "startNs", "id");
CREATE INDEX "Import_orgId_endNs_id_idx" ON "Import"("orgId", "endNs", "id");
CREATE INDEX "Import_projectId_idx" ON "Import"("projectId");
CREATE INDEX "Import_orgId_filename" ON "Import"("orgId", md5("filename"));
CREATE INDEX "Import_orgId_span" ON "Import" USING gist ("orgId", downlink_span("startNs", "endNs"));

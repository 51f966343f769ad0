-- CreateTable
CREATE TABLE "Dataset" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "creatorOrgMemberId" TEXT,
    "creatorApiKeyId" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,
    "editableVersion" INTEGER NOT NULL,
    "episodeCount" INTEGER NOT NULL,

    CONSTRAINT "Dataset_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "DatasetVersion" (
    "datasetId" TEXT NOT NULL,
    "versionNumber" INTEGER NOT NULL,
    "committedAtNs" BIGINT,
    "committedByOrgMemberId" TEXT,
    "committedByApiKeyId" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "episodeCount" INTEGER NOT NULL,
    "addedEpisodeCount" INTEGER NOT NULL DEFAULT 0,
    "removedEpisodeCount" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "DatasetVersion_pkey" PRIMARY KEY ("datasetId","versionNumber")
);

-- CreateTable
CREATE TABLE "DatasetMember" (
    "datasetId" TEXT NOT NULL,
    "episodeId" TEXT NOT NULL,
    "addedIn" INTEGER NOT NULL,
    "removedIn" INTEGER NOT NULL DEFAULT 2147483647,
    "addedAtNs" BIGINT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,

    CONSTRAINT "DatasetMember_pkey" PRIMARY KEY ("episodeId","datasetId","removedIn")
);

-- CreateTable
CREATE TABLE "Episode" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,
    "metadata" JSONB NOT NULL,
    "creationContext" TEXT,
    "identitySha256" TEXT NOT NULL,
    "creatorOrgMemberId" TEXT,
    "creatorApiKeyId" TEXT,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "Episode_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EpisodeRecording" (
    "episodeId" TEXT NOT NULL,
    "recordingId" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,
    "deviceId" TEXT,

    CONSTRAINT "EpisodeRecording_pkey" PRIMARY KEY ("episodeId","recordingId")
);

-- CreateTable
CREATE TABLE "EpisodeAvailability" (
    "episodeId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "missingCount" INTEGER NOT NULL,
    "hasMissing" BOOLEAN NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,

    CONSTRAINT "EpisodeAvailability_pkey" PRIMARY KEY ("episodeId")
);

-- CreateIndex
CREATE INDEX "Dataset_projectId_createdAtNs_id_idx" ON "Dataset"("projectId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "Dataset_projectId_updatedAtNs_id_idx" ON "Dataset"("projectId", "updatedAtNs", "id");

-- CreateIndex
CREATE INDEX "Dataset_projectId_name_id_idx" ON "Dataset"("projectId", "name", "id");

-- CreateIndex
CREATE INDEX "Dataset_projectId_episodeCount_id_idx" ON "Dataset"("projectId", "episodeCount", "id");

-- CreateIndex
CREATE INDEX "Dataset_name_idx" ON "Dataset" USING GIN ("name" gin_trgm_ops);

-- CreateIndex
CREATE INDEX "DatasetMember_datasetId_addedIn_removedIn_idx" ON "DatasetMember"("datasetId", "addedIn", "removedIn");

-- CreateIndex
CREATE INDEX "DatasetMember_datasetId_addedAtNs_episodeId_addedIn_removed_idx" ON "DatasetMember"("datasetId", "addedAtNs", "episodeId", "addedIn", "removedIn");

-- CreateIndex
CREATE INDEX "DatasetMember_datasetId_createdAtNs_episodeId_addedIn_remov_idx" ON "DatasetMember"("datasetId", "createdAtNs", "episodeId", "addedIn", "removedIn");

-- CreateIndex
CREATE INDEX "DatasetMember_datasetId_startNs_episodeId_addedIn_removedIn_idx" ON "DatasetMember"("datasetId", "startNs", "episodeId", "addedIn", "removedIn");

-- CreateIndex
CREATE INDEX "DatasetMember_datasetId_endNs_episodeId_addedIn_removedIn_idx" ON "DatasetMember"("datasetId", "endNs", "episodeId", "addedIn", "removedIn");

-- CreateIndex
CREATE INDEX "Episode_metadata_idx" ON "Episode" USING GIN ("metadata");

-- CreateIndex
CREATE UNIQUE INDEX "Episode_projectId_identitySha256_key" ON "Episode"("projectId", "identitySha256");

-- CreateIndex
CREATE INDEX "EpisodeRecording_recordingId_episodeId_idx" ON "EpisodeRecording"("recordingId", "episodeId");

-- CreateIndex
CREATE INDEX "EpisodeAvailability_projectId_hasMissing_createdAtNs_episod_idx" ON "EpisodeAvailability"("projectId", "hasMissing", "createdAtNs", "episodeId");

-- CreateIndex
CREATE INDEX "EpisodeAvailability_projectId_hasMissing_startNs_episodeId_idx" ON "EpisodeAvailability"("projectId", "hasMissing", "startNs", "episodeId");

-- CreateIndex
CREATE INDEX "EpisodeAvailability_projectId_hasMissing_endNs_episodeId_idx" ON "EpisodeAvailability"("projectId", "hasMissing", "endNs", "episodeId");

-- AddForeignKey
ALTER TABLE "Dataset" ADD CONSTRAINT "Dataset_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DatasetVersion" ADD CONSTRAINT "DatasetVersion_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "Dataset"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DatasetMember" ADD CONSTRAINT "DatasetMember_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "Dataset"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DatasetMember" ADD CONSTRAINT "DatasetMember_episodeId_fkey" FOREIGN KEY ("episodeId") REFERENCES "Episode"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Episode" ADD CONSTRAINT "Episode_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EpisodeRecording" ADD CONSTRAINT "EpisodeRecording_episodeId_fkey" FOREIGN KEY ("episodeId") REFERENCES "Episode"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EpisodeAvailability" ADD CONSTRAINT "EpisodeAvailability_episodeId_fkey" FOREIGN KEY ("episodeId") REFERENCES "Episode"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- What Prisma cannot say.

-- Episodes that touch a span of time, and parts of their metadata's keys and values, in any case.
CREATE INDEX "Episode_projectId_span" ON "Episode" USING gist ("projectId", downlink_span("startNs", "endNs"));
CREATE INDEX "Episode_metadata_text" ON "Episode" USING gin (lower("metadata"::text) gin_trgm_ops);

-- The imported recordings of a device that touch a span of time, for snapshots of events.
CREATE INDEX "Recording_deviceId_span_complete" ON "Recording" USING gist ("deviceId", downlink_span("startNs", "endNs")) WHERE "importStatus" = 'complete';

-- A primary site holds a recording's data while its status is complete. Each episode counts those of its recordings that no site
-- holds. In the order of the episodes, so that no two changes wait for each other.
CREATE FUNCTION downlink_count_missing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change integer := CASE WHEN TG_OP = 'UPDATE' AND NEW."importStatus" = 'complete' THEN -1 ELSE 1 END;
BEGIN
  PERFORM FROM "EpisodeAvailability"
    WHERE "episodeId" IN (SELECT "episodeId" FROM "EpisodeRecording" WHERE "recordingId" = OLD.id)
    ORDER BY "episodeId" FOR NO KEY UPDATE;
  UPDATE "EpisodeAvailability"
    SET "missingCount" = "missingCount" + change, "hasMissing" = "missingCount" + change > 0
    WHERE "episodeId" IN (SELECT "episodeId" FROM "EpisodeRecording" WHERE "recordingId" = OLD.id);
  RETURN NULL;
END $$;
CREATE TRIGGER "Recording_availability_changes" AFTER UPDATE OF "importStatus" ON "Recording" FOR EACH ROW
  WHEN ((OLD."importStatus" = 'complete') <> (NEW."importStatus" = 'complete')) EXECUTE FUNCTION downlink_count_missing();
CREATE TRIGGER "Recording_availability_ends" AFTER DELETE ON "Recording" FOR EACH ROW
  WHEN (OLD."importStatus" = 'complete') EXECUTE FUNCTION downlink_count_missing();

-- Names are unique within a project in any case.
CREATE UNIQUE INDEX "Dataset_projectId_name" ON "Dataset"("projectId", lower("name"));

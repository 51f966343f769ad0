-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "Device" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "retainRecordingsSeconds" INTEGER,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "remoteAccessEnabled" BOOLEAN NOT NULL DEFAULT true,
    "autoDeleteAfterImport" BOOLEAN NOT NULL DEFAULT false,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Device_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "DeviceToken" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "deviceId" TEXT,
    "tokenSha256" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "preapproved" BOOLEAN NOT NULL DEFAULT false,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "DeviceToken_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Agent" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "deviceId" TEXT NOT NULL,
    "leaseNumber" BIGINT NOT NULL,
    "leaseInstanceId" TEXT NOT NULL,
    "leaseExpiresAtNs" BIGINT NOT NULL,
    "machineId" TEXT NOT NULL,
    "agentVersion" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "status" JSONB,
    "lastSeenAtNs" BIGINT NOT NULL,
    "listingId" TEXT,

    CONSTRAINT "Agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EdgeFile" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "deviceId" TEXT NOT NULL,
    "versionId" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "modifiedAtNs" BIGINT NOT NULL,
    "headTailSha256" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reasonCode" TEXT,
    "reasonText" TEXT,
    "salvageStartNs" BIGINT,
    "salvageEndNs" BIGINT,
    "listingId" TEXT,
    "reportedAtNs" BIGINT NOT NULL,
    "recordingId" TEXT,

    CONSTRAINT "EdgeFile_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SchemaText" (
    "orgId" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "SchemaText_pkey" PRIMARY KEY ("orgId","sha256")
);

-- CreateTable
CREATE TABLE "ImportRequest" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT,
    "siteId" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "pipelineStage" TEXT NOT NULL,
    "recordingId" TEXT,
    "deviceId" TEXT,
    "deviceName" TEXT,
    "key" TEXT,
    "sessionId" TEXT,
    "sessionKey" TEXT,
    "filename" TEXT NOT NULL,
    "versionId" TEXT,
    "agentId" TEXT,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "isAcknowledged" BOOLEAN NOT NULL DEFAULT false,
    "mismatches" INTEGER NOT NULL DEFAULT 0,
    "blobKey" TEXT,
    "sizeBytes" BIGINT,
    "announcedSha256" TEXT,
    "importId" TEXT,
    "errorCode" TEXT,
    "errorText" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAttemptAtNs" BIGINT,
    "quarantinedAtNs" BIGINT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "ImportRequest_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Upload" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "requestId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "versionId" TEXT,
    "sizeBytes" BIGINT,
    "modifiedAtNs" BIGINT,
    "partSizeBytes" BIGINT,
    "blobKey" TEXT NOT NULL,
    "announcedSha256" TEXT,
    "state" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Upload_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Organization" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "Organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Deployment" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "incarnation" TEXT NOT NULL,
    "signingKey" TEXT NOT NULL,

    CONSTRAINT "Deployment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApiKey" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "tokenSha256" TEXT NOT NULL,
    "capabilities" TEXT[],
    "projectIds" TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "ApiKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OutboxEvent" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "occurredAtNs" BIGINT NOT NULL,

    CONSTRAINT "OutboxEvent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Project" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "lastSeenAtNs" BIGINT,

    CONSTRAINT "Project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Site" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "Site_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Session" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "deviceId" TEXT NOT NULL,
    "key" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Recording" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "deviceId" TEXT,
    "sessionId" TEXT,
    "siteId" TEXT,
    "path" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,
    "durationNs" BIGINT NOT NULL,
    "key" TEXT,
    "format" TEXT NOT NULL,
    "messageCount" BIGINT NOT NULL,
    "metadata" JSONB NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "importStatus" TEXT NOT NULL,
    "importedAtNs" BIGINT,
    "importId" TEXT,
    "failureCode" TEXT,
    "failureText" TEXT,
    "isEdge" BOOLEAN NOT NULL,
    "contentSha256" TEXT,
    "blobKey" TEXT,

    CONSTRAINT "Recording_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "RecordingTopic" (
    "recordingId" TEXT NOT NULL,
    "topic" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "messageEncoding" TEXT NOT NULL,
    "schemaName" TEXT NOT NULL,
    "schemaEncoding" TEXT NOT NULL,
    "schemaSha256" TEXT NOT NULL,
    "messageCount" BIGINT NOT NULL,
    "startNs" BIGINT,
    "endNs" BIGINT,

    CONSTRAINT "RecordingTopic_pkey" PRIMARY KEY ("recordingId","topic","version")
);

-- CreateTable
CREATE TABLE "RecordingAttachment" (
    "id" TEXT NOT NULL,
    "recordingId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "mediaType" TEXT NOT NULL,
    "logTimeNs" BIGINT NOT NULL,
    "createTimeNs" BIGINT NOT NULL,
    "crc" BIGINT NOT NULL,
    "dataOffset" BIGINT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,

    CONSTRAINT "RecordingAttachment_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Device_orgId_createdAtNs_id_idx" ON "Device"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Device_projectId_name_key" ON "Device"("projectId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "DeviceToken_tokenSha256_key" ON "DeviceToken"("tokenSha256");

-- CreateIndex
CREATE INDEX "DeviceToken_orgId_createdAtNs_id_idx" ON "DeviceToken"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "DeviceToken_deviceId_idx" ON "DeviceToken"("deviceId");

-- CreateIndex
CREATE UNIQUE INDEX "Agent_deviceId_key" ON "Agent"("deviceId");

-- CreateIndex
CREATE UNIQUE INDEX "EdgeFile_recordingId_key" ON "EdgeFile"("recordingId");

-- CreateIndex
CREATE INDEX "EdgeFile_orgId_deviceId_state_idx" ON "EdgeFile"("orgId", "deviceId", "state");

-- CreateIndex
CREATE UNIQUE INDEX "EdgeFile_agentId_versionId_key" ON "EdgeFile"("agentId", "versionId");

-- CreateIndex
CREATE UNIQUE INDEX "ImportRequest_blobKey_key" ON "ImportRequest"("blobKey");

-- CreateIndex
CREATE INDEX "ImportRequest_orgId_createdAtNs_id_idx" ON "ImportRequest"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "ImportRequest_orgId_state_updatedAtNs_idx" ON "ImportRequest"("orgId", "state", "updatedAtNs");

-- CreateIndex
CREATE INDEX "ImportRequest_agentId_isAcknowledged_idx" ON "ImportRequest"("agentId", "isAcknowledged");

-- CreateIndex
CREATE INDEX "ImportRequest_recordingId_idx" ON "ImportRequest"("recordingId");

-- CreateIndex
CREATE UNIQUE INDEX "Upload_blobKey_key" ON "Upload"("blobKey");

-- CreateIndex
CREATE INDEX "Upload_requestId_idx" ON "Upload"("requestId");

-- CreateIndex
CREATE INDEX "Upload_state_updatedAtNs_idx" ON "Upload"("state", "updatedAtNs");

-- CreateIndex
CREATE UNIQUE INDEX "Organization_name_key" ON "Organization"("name");

-- CreateIndex
CREATE UNIQUE INDEX "ApiKey_tokenSha256_key" ON "ApiKey"("tokenSha256");

-- CreateIndex
CREATE INDEX "ApiKey_orgId_idx" ON "ApiKey"("orgId");

-- CreateIndex
CREATE INDEX "OutboxEvent_orgId_occurredAtNs_idx" ON "OutboxEvent"("orgId", "occurredAtNs");

-- CreateIndex
CREATE UNIQUE INDEX "Project_orgId_name_key" ON "Project"("orgId", "name");

-- CreateIndex
CREATE INDEX "Site_orgId_name_idx" ON "Site"("orgId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "Session_projectId_key_key" ON "Session"("projectId", "key");

-- CreateIndex
CREATE UNIQUE INDEX "Recording_importId_key" ON "Recording"("importId");

-- CreateIndex
CREATE UNIQUE INDEX "Recording_blobKey_key" ON "Recording"("blobKey");

-- CreateIndex
CREATE INDEX "Recording_orgId_createdAtNs_id_idx" ON "Recording"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "Recording_deviceId_startNs_id_idx" ON "Recording"("deviceId", "startNs", "id");

-- CreateIndex
CREATE INDEX "Recording_orgId_startNs_id_idx" ON "Recording"("orgId", "startNs", "id");

-- CreateIndex
CREATE INDEX "Recording_projectId_key_idx" ON "Recording"("projectId", "key");

-- CreateIndex
CREATE INDEX "Recording_orgId_contentSha256_idx" ON "Recording"("orgId", "contentSha256");

-- CreateIndex
CREATE INDEX "Recording_sessionId_idx" ON "Recording"("sessionId");

-- CreateIndex
CREATE INDEX "RecordingTopic_topic_idx" ON "RecordingTopic"("topic");

-- CreateIndex
CREATE INDEX "RecordingAttachment_recordingId_logTimeNs_idx" ON "RecordingAttachment"("recordingId", "logTimeNs");

-- AddForeignKey
ALTER TABLE "Device" ADD CONSTRAINT "Device_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DeviceToken" ADD CONSTRAINT "DeviceToken_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DeviceToken" ADD CONSTRAINT "DeviceToken_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Agent" ADD CONSTRAINT "Agent_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EdgeFile" ADD CONSTRAINT "EdgeFile_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "Agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EdgeFile" ADD CONSTRAINT "EdgeFile_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Upload" ADD CONSTRAINT "Upload_requestId_fkey" FOREIGN KEY ("requestId") REFERENCES "ImportRequest"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApiKey" ADD CONSTRAINT "ApiKey_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Project" ADD CONSTRAINT "Project_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Site" ADD CONSTRAINT "Site_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_sessionId_fkey" FOREIGN KEY ("sessionId") REFERENCES "Session"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RecordingTopic" ADD CONSTRAINT "RecordingTopic_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RecordingAttachment" ADD CONSTRAINT "RecordingAttachment_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- A key names one imported recording of a project. Copies of one file on several devices share theirs until one is imported.
CREATE UNIQUE INDEX "Recording_projectId_key_imported" ON "Recording"("projectId", "key") WHERE "importStatus" = 'complete';

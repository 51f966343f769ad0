-- CreateTable
CREATE TABLE "DatasetMapping" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "datasetId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "DatasetMapping_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "TrainingSet" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "datasetId" TEXT NOT NULL,
    "versionNumber" INTEGER NOT NULL,
    "mappingId" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "identity" TEXT NOT NULL,
    "leavesOut" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'building',
    "episodeCount" INTEGER NOT NULL,
    "episodesDone" INTEGER NOT NULL DEFAULT 0,
    "sizeBytes" BIGINT NOT NULL DEFAULT 0,
    "manifestSha256" TEXT,
    "failureText" TEXT,
    "report" JSONB,
    "createdAtNs" BIGINT NOT NULL,
    "expiresAtNs" BIGINT NOT NULL,

    CONSTRAINT "TrainingSet_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "TrainingFile" (
    "setId" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "blobKey" TEXT NOT NULL,

    CONSTRAINT "TrainingFile_pkey" PRIMARY KEY ("setId","path")
);

-- CreateIndex
CREATE INDEX "DatasetMapping_datasetId_createdAtNs_id_idx" ON "DatasetMapping"("datasetId", "createdAtNs", "id");

-- CreateIndex
CREATE UNIQUE INDEX "DatasetMapping_datasetId_name_revision_key" ON "DatasetMapping"("datasetId", "name", "revision");

-- CreateIndex
CREATE INDEX "TrainingSet_orgId_createdAtNs_id_idx" ON "TrainingSet"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "TrainingSet_projectId_createdAtNs_id_idx" ON "TrainingSet"("projectId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "TrainingSet_datasetId_createdAtNs_id_idx" ON "TrainingSet"("datasetId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "TrainingSet_datasetId_identity_idx" ON "TrainingSet"("datasetId", "identity");

-- CreateIndex
CREATE INDEX "TrainingSet_expiresAtNs_idx" ON "TrainingSet"("expiresAtNs");

-- CreateIndex
CREATE INDEX "TrainingFile_blobKey_idx" ON "TrainingFile"("blobKey");

-- AddForeignKey
ALTER TABLE "DatasetMapping" ADD CONSTRAINT "DatasetMapping_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "Dataset"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TrainingSet" ADD CONSTRAINT "TrainingSet_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TrainingSet" ADD CONSTRAINT "TrainingSet_datasetId_fkey" FOREIGN KEY ("datasetId") REFERENCES "Dataset"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TrainingSet" ADD CONSTRAINT "TrainingSet_mappingId_fkey" FOREIGN KEY ("mappingId") REFERENCES "DatasetMapping"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TrainingFile" ADD CONSTRAINT "TrainingFile_setId_fkey" FOREIGN KEY ("setId") REFERENCES "TrainingSet"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "TrainingSet" ADD CONSTRAINT "TrainingSet_state_is_known" CHECK ("state" IN ('building', 'ready', 'failed', 'expired'));
ALTER TABLE "TrainingSet" ADD CONSTRAINT "TrainingSet_format_is_known" CHECK ("format" IN ('lerobot-v3'));

-- AlterTable
ALTER TABLE "Agent" ADD COLUMN     "clonedAtNs" BIGINT,
ADD COLUMN     "isOnline" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "oustedInstanceId" TEXT,
ADD COLUMN     "oustedReturns" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "siteId" TEXT,
ALTER COLUMN "projectId" DROP NOT NULL,
ALTER COLUMN "deviceId" DROP NOT NULL;

-- AlterTable
ALTER TABLE "DeviceToken" ADD COLUMN     "enrolledWith" TEXT,
ADD COLUMN     "enrolmentId" TEXT;

-- AlterTable
ALTER TABLE "EdgeFile" ALTER COLUMN "projectId" DROP NOT NULL,
ALTER COLUMN "deviceId" DROP NOT NULL;

-- AlterTable
ALTER TABLE "Site" ADD COLUMN     "agentSettings" JSONB NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "SalvageRequest" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "versionId" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "modifiedAtNs" BIGINT NOT NULL,
    "startNs" BIGINT NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "state" TEXT NOT NULL,
    "reasonCode" TEXT,
    "reasonText" TEXT,
    "recordingId" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "SalvageRequest_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "SalvageRequest_recordingId_key" ON "SalvageRequest"("recordingId");

-- CreateIndex
CREATE UNIQUE INDEX "SalvageRequest_agentId_versionId_key" ON "SalvageRequest"("agentId", "versionId");

-- CreateIndex
CREATE UNIQUE INDEX "Agent_siteId_key" ON "Agent"("siteId");

-- CreateIndex
CREATE UNIQUE INDEX "DeviceToken_enrolmentId_key" ON "DeviceToken"("enrolmentId");

-- AddForeignKey
ALTER TABLE "Agent" ADD CONSTRAINT "Agent_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SalvageRequest" ADD CONSTRAINT "SalvageRequest_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "Agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SalvageRequest" ADD CONSTRAINT "SalvageRequest_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- An agent works for a device or for a site.
ALTER TABLE "Agent" ADD CONSTRAINT "Agent_one_owner" CHECK (("deviceId" IS NULL) <> ("siteId" IS NULL));

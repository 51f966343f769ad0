-- CreateTable
CREATE TABLE "Cut" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "wholeId" TEXT NOT NULL,
    "agentId" TEXT,
    "versionId" TEXT NOT NULL,
    "topics" TEXT[],
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,
    "priority" INTEGER NOT NULL,
    "requestedBy" JSONB NOT NULL,
    "state" TEXT NOT NULL,
    "reasonCode" TEXT,
    "reasonText" TEXT,
    "recordingId" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Cut_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Cut_recordingId_key" ON "Cut"("recordingId");

-- CreateIndex
CREATE INDEX "Cut_wholeId_idx" ON "Cut"("wholeId");

-- CreateIndex
CREATE INDEX "Cut_agentId_state_idx" ON "Cut"("agentId", "state");

-- AddForeignKey
ALTER TABLE "Cut" ADD CONSTRAINT "Cut_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "Agent"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Cut" ADD CONSTRAINT "Cut_recordingId_fkey" FOREIGN KEY ("recordingId") REFERENCES "Recording"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "Cut" ADD CONSTRAINT "Cut_state_is_known" CHECK ("state" IN ('requested', 'made', 'failed'));

-- What is wanted of an agent is told to it, as in 20261123001500_work_signals. A cut whose import ends is told by its import request.
CREATE TRIGGER "Cut_tells_of_any" AFTER INSERT OR DELETE ON "Cut" FOR EACH ROW EXECUTE FUNCTION downlink_tell_agent();
CREATE TRIGGER "Cut_tells_of_change" AFTER UPDATE OF "agentId", "versionId", "priority", "state" ON "Cut" FOR EACH ROW
  WHEN ((OLD."agentId", OLD."versionId", OLD."priority", OLD."state")
    IS DISTINCT FROM (NEW."agentId", NEW."versionId", NEW."priority", NEW."state"))
  EXECUTE FUNCTION downlink_tell_agent();

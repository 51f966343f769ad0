-- CreateIndex
CREATE INDEX "Event_projectId_idx" ON "Event"("projectId");

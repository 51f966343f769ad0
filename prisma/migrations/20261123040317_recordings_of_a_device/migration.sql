-- CreateIndex
CREATE INDEX "Recording_deviceId_createdAtNs_id_covering" ON "Recording"("deviceId", "createdAtNs", "id", "startNs", "endNs");

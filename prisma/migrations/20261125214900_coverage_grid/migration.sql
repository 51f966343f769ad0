-- DropIndex
DROP INDEX "Event_deviceId_startNs_id_idx";

-- DropIndex
DROP INDEX "Recording_deviceId_startNs_id_idx";

-- CreateIndex
CREATE INDEX "Event_deviceId_startNs_id_covering" ON "Event"("deviceId", "startNs", "id", "endNs", "projectId");

-- CreateIndex
CREATE INDEX "Recording_deviceId_startNs_id_covering" ON "Recording"("deviceId", "startNs", "id", "endNs", "importStatus", "sizeBytes", "projectId");

-- Events of more than a day by the time that they span, as there is such an index of recordings. The difference may need more than 64 bits.
CREATE INDEX "Event_deviceId_span_long" ON "Event" USING gist ("deviceId", downlink_span("startNs", "endNs")) WHERE "endNs"::numeric - "startNs" > 86400000000000;

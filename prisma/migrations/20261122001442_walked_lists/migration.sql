-- Orders of lists with what these filter by, so that a list which matches much walks its order and passes in the index what does
-- not match. Recordings by the times of their data:
DROP INDEX "Recording_orgId_createdAtNs_id_idx";
DROP INDEX "Recording_orgId_importedAtNs_id_imported";
DROP INDEX "Recording_orgId_path_start";
CREATE INDEX "Recording_orgId_createdAtNs_id_idx" ON "Recording"("orgId", "createdAtNs", "id", "startNs", "endNs");
CREATE INDEX "Recording_orgId_importedAtNs_id_imported" ON "Recording"("orgId", "importedAtNs", "id", "startNs", "endNs") WHERE "importedAtNs" IS NOT NULL;
CREATE INDEX "Recording_orgId_path_start" ON "Recording"("orgId", (left("path", 200) COLLATE "C"), "startNs", "endNs");
-- and those of an edge site with all but the path that they are sorted by
DROP INDEX "Recording_edgeSiteId_createdAtNs_id";
CREATE INDEX "Recording_orgId_edgeSiteId_createdAtNs_id" ON "Recording"("orgId", "edgeSiteId", "createdAtNs", "id", "startNs", "endNs", "durationNs", "importedAtNs", "deviceId") WHERE "edgeSiteId" IS NOT NULL;

-- Imports; those of a file name in the order of their devices
DROP INDEX "Import_orgId_id_idx";
DROP INDEX "Import_orgId_deviceId_id_idx";
DROP INDEX "Import_orgId_endNs_id_idx";
DROP INDEX "Import_orgId_filename";
CREATE INDEX "Import_orgId_id_idx" ON "Import"("orgId", "id", "importedAtNs", "startNs", "endNs", "deletedAtNs");
CREATE INDEX "Import_orgId_deviceId_id_idx" ON "Import"("orgId", "deviceId", "id", "importedAtNs", "startNs", "endNs", "deletedAtNs");
CREATE INDEX "Import_orgId_endNs_id_idx" ON "Import"("orgId", "endNs", "id", "startNs", "importedAtNs", "deletedAtNs");
CREATE INDEX "Import_orgId_filename" ON "Import"("orgId", md5("filename"), "deviceId", "id");

-- Import requests, and those that are not complete, likewise
DROP INDEX "ImportRequest_orgId_createdAtNs_id_idx";
DROP INDEX "ImportRequest_orgId_id_idx";
DROP INDEX "ImportRequest_orgId_deviceId_id_idx";
DROP INDEX "ImportRequest_orgId_deviceName_id_idx";
DROP INDEX "ImportRequest_orgId_importId_id_idx";
CREATE INDEX "ImportRequest_orgId_createdAtNs_id_idx" ON "ImportRequest"("orgId", "createdAtNs", "id", "updatedAtNs", "state", "quarantinedAtNs");
CREATE INDEX "ImportRequest_orgId_id_idx" ON "ImportRequest"("orgId", "id", "updatedAtNs", "state", "quarantinedAtNs");
CREATE INDEX "ImportRequest_orgId_deviceId_id_idx" ON "ImportRequest"("orgId", "deviceId", "id", "deviceName", "updatedAtNs", "state", "quarantinedAtNs");
CREATE INDEX "ImportRequest_orgId_deviceName_id_idx" ON "ImportRequest"("orgId", "deviceName", "id", "deviceId", "updatedAtNs", "state", "quarantinedAtNs");
CREATE INDEX "ImportRequest_orgId_importId_id_idx" ON "ImportRequest"("orgId", "importId", "id", "updatedAtNs", "state", "quarantinedAtNs");
DROP INDEX "ImportRequest_orgId_filename";
CREATE INDEX "ImportRequest_orgId_filename" ON "ImportRequest"("orgId", md5("filename"), "deviceId", "id");
DROP INDEX "ImportRequest_orgId_createdAtNs_id_open";
DROP INDEX "ImportRequest_orgId_id_open";
DROP INDEX "ImportRequest_orgId_deviceId_id_open";
DROP INDEX "ImportRequest_orgId_deviceName_id_open";
DROP INDEX "ImportRequest_orgId_errorText_id_error";
DROP INDEX "ImportRequest_orgId_filename_open";
CREATE INDEX "ImportRequest_orgId_createdAtNs_id_open" ON "ImportRequest"("orgId", "createdAtNs", "id", "updatedAtNs", "state", "quarantinedAtNs") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_id_open" ON "ImportRequest"("orgId", "id", "updatedAtNs", "state", "quarantinedAtNs") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_deviceId_id_open" ON "ImportRequest"("orgId", "deviceId", "id", "deviceName", "updatedAtNs", "state", "quarantinedAtNs") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_deviceName_id_open" ON "ImportRequest"("orgId", "deviceName", "id", "deviceId", "updatedAtNs", "state", "quarantinedAtNs") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
CREATE INDEX "ImportRequest_orgId_errorText_id_error" ON "ImportRequest"("orgId", "errorText", "id", "deviceId", "updatedAtNs", "quarantinedAtNs") WHERE "state" = 'error';
CREATE INDEX "ImportRequest_orgId_filename_open" ON "ImportRequest"("orgId", md5("filename"), "deviceId", "id") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');

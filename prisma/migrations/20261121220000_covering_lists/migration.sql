-- Orders of lists with what these filter and sort by: one that reads much for a page reads the index alone.
DROP INDEX "Event_orgId_createdAtNs_id_idx";
DROP INDEX "Event_orgId_updatedAtNs_id_idx";
DROP INDEX "Event_orgId_startNs_id_idx";
CREATE INDEX "Event_orgId_createdAtNs_id_idx" ON "Event"("orgId", "createdAtNs", "id", "startNs", "endNs", "updatedAtNs");
CREATE INDEX "Event_orgId_updatedAtNs_id_idx" ON "Event"("orgId", "updatedAtNs", "id", "startNs", "endNs", "createdAtNs");
CREATE INDEX "Event_orgId_startNs_id_idx" ON "Event"("orgId", "startNs", "id", "endNs", "createdAtNs", "updatedAtNs");

DROP INDEX "Import_orgId_importedAtNs_id_idx";
DROP INDEX "Import_orgId_startNs_id_idx";
CREATE INDEX "Import_orgId_importedAtNs_id_idx" ON "Import"("orgId", "importedAtNs", "id", "startNs", "endNs", "deletedAtNs", "deviceId");
CREATE INDEX "Import_orgId_startNs_id_idx" ON "Import"("orgId", "startNs", "id", "endNs", "importedAtNs", "deletedAtNs", "deviceId");

DROP INDEX "ImportRequest_orgId_updatedAtNs_id_idx";
DROP INDEX "ImportRequest_orgId_deviceId_id_idx";
DROP INDEX "ImportRequest_orgId_updatedAtNs_id_open";
CREATE INDEX "ImportRequest_orgId_updatedAtNs_id_idx" ON "ImportRequest"("orgId", "updatedAtNs", "id", "createdAtNs", "state", "quarantinedAtNs");
CREATE INDEX "ImportRequest_orgId_deviceId_id_idx" ON "ImportRequest"("orgId", "deviceId", "id", "deviceName", "state", "quarantinedAtNs");
CREATE INDEX "ImportRequest_orgId_updatedAtNs_id_open" ON "ImportRequest"("orgId", "updatedAtNs", "id", "createdAtNs", "state", "quarantinedAtNs") WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');
-- and those that are not complete by their file names
CREATE INDEX "ImportRequest_orgId_filename_open" ON "ImportRequest"("orgId", md5("filename")) WHERE "state" IN ('received', 'processing', 'ready for indexing', 'error');

-- Recordings of sessions by session, and by time, instead of an index of spans, which takes five times as long to write
DROP INDEX "Recording_sessionId_idx";
DROP INDEX "Recording_orgId_span_in_session";
CREATE INDEX "Recording_sessionId_in_session" ON "Recording"("sessionId", "startNs", "endNs") WHERE "sessionId" IS NOT NULL;
CREATE INDEX "Recording_orgId_startNs_in_session" ON "Recording"("orgId", "startNs", "endNs", "sessionId") WHERE "sessionId" IS NOT NULL;

-- Pairs of letters of any text, as they were of an object's search text: the metadata of recordings and episodes, and names of files
-- that failed. A text of more pairs than a tsvector may hold has any.
CREATE FUNCTION downlink_letter_pairs(searched text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
  RETURN CASE WHEN octet_length(searched) > 100000 THEN array_to_tsvector('{any}') ELSE (
    SELECT array_to_tsvector(coalesce(array_agg(letter || coalesce(next, '')), '{}'))
    FROM unnest(string_to_array(searched, NULL), string_to_array(substr(searched, 2), NULL)) AS pairs(letter, next)
  ) END;
CREATE OR REPLACE FUNCTION downlink_letter_pairs(object jsonb) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
  RETURN downlink_letter_pairs(coalesce(downlink_search_text(object), ''));
CREATE INDEX "Recording_metadata_pairs" ON "Recording" USING gin (downlink_letter_pairs(lower("metadata"::text)));
CREATE INDEX "Episode_metadata_pairs" ON "Episode" USING gin (downlink_letter_pairs("metadata"));
CREATE INDEX "ImportRequest_filename_pairs_error" ON "ImportRequest" USING gin (downlink_letter_pairs(lower("filename"))) WHERE "state" = 'error';

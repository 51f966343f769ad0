-- Events in the order of their devices, with what lists filter by: a filter that removes most rows reads the index alone.
DROP INDEX "Event_deviceId_id_idx";
CREATE INDEX "Event_orgId_deviceId_id_idx" ON "Event"("orgId", "deviceId", "id", "startNs", "endNs", "createdAtNs", "updatedAtNs", "eventTypeId");

-- Every pair of letters that follow each other in an object's search text, and its last letter alone: what finds a text that is
-- too short for a trigram. Its cost is what it takes, so that the planner computes it for no row that it need not.
CREATE FUNCTION downlink_letter_pairs(object jsonb) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
  RETURN array_to_tsvector(coalesce((
    SELECT array_agg(pair)
    FROM (
      SELECT letter || lead(letter, 1, '') OVER (ORDER BY at) AS pair
      FROM unnest(string_to_array(downlink_search_text(object), NULL)) WITH ORDINALITY AS letters(letter, at)
    ) AS pairs
  ), '{}'));
CREATE INDEX "Event_metadata_pairs" ON "Event" USING gin (downlink_letter_pairs("metadata"));
CREATE INDEX "Event_properties_pairs" ON "Event" USING gin (downlink_letter_pairs("properties"));
CREATE INDEX "Device_properties_pairs" ON "Device" USING gin (downlink_letter_pairs("properties"));
CREATE INDEX "Session_properties_pairs" ON "Session" USING gin (downlink_letter_pairs("properties"));

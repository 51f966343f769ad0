-- The span of a recording or event as a range with both its ends, for GiST indexes and overlap queries (`packages/cloud/src/db/span-sql.ts`). A range
-- cannot end at the largest bigint, so that times there count as one nanosecond earlier.

CREATE OR REPLACE FUNCTION downlink_span("startNs" bigint, "endNs" bigint) RETURNS int8range
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN int8range(least("startNs", 9223372036854775806), least("endNs", 9223372036854775806), '[]');

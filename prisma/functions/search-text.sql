-- Search in metadata and file names, for GIN indexes: a text is found by pairs of its letters, which an index has for any text, and the rows
-- are then compared (`packages/cloud/src/calls/search/`). A text of more pairs than a tsvector may hold has the pair `any`, which every search looks
-- for as well.

CREATE OR REPLACE FUNCTION downlink_search_text(object jsonb) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 20
  RETURN (
    SELECT lower(string_agg(part, E'\x1f'))
    FROM (
      SELECT jsonb_object_keys(object) AS part
      UNION ALL
      SELECT element #>> '{}' FROM jsonb_path_query(object, '$.*[*]') AS element
    ) AS parts
  );

CREATE OR REPLACE FUNCTION downlink_letter_pairs(searched text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
  RETURN CASE WHEN octet_length(searched) > 100000 THEN array_to_tsvector('{any}') ELSE (
    SELECT array_to_tsvector(coalesce(array_agg(letter || coalesce(next, '')), '{}'))
    FROM unnest(string_to_array(searched, NULL), string_to_array(substr(searched, 2), NULL)) AS pairs(letter, next)
  ) END;

CREATE OR REPLACE FUNCTION downlink_letter_pairs(object jsonb) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1200
  RETURN downlink_letter_pairs(coalesce(downlink_search_text(object), ''));

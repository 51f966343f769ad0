-- The keys and stringified values of an object, lower case, parted by U+001F, which no query may hold:
-- what a bare search term is looked for in. The elements of an array are texts of their own.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE FUNCTION downlink_search_text(object jsonb) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 20
  RETURN (
    SELECT lower(string_agg(part, E'\x1f'))
    FROM (
      SELECT jsonb_object_keys(object) AS part
      UNION ALL
      SELECT element #>> '{}' FROM jsonb_path_query(object, '$.*[*]') AS element
    ) AS parts
  );

import pg from "pg";

const INT8 = 20;
const INT8_ARRAY = 1016;

const getTypeParser: pg.CustomTypesConfig["getTypeParser"] = (oid: number, format: unknown) => {
  if (oid === INT8) return BigInt;
  if (oid === INT8_ARRAY) return parseBigints;
  return pg.types.getTypeParser(oid, format as "text");
};

/**
 * Types for a query whose BIGINT columns arrive as bigint. They are passed with each query, because a parser that is set for the whole process
 * would reach Prisma, which expects text. `sum` of a BIGINT is NUMERIC and stays text, so cast it.
 */
export const bigintTypes: pg.CustomTypesConfig = { getTypeParser };

/** The arrays are one-dimensional, as in all our columns. */
function parseBigints(text: string): (bigint | null)[] {
  const items = text.slice(1, -1).split(",");
  return text === "{}" ? [] : items.map((item) => (item === "NULL" ? null : BigInt(item)));
}

import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";

const INT8 = 20;
const INT8_ARRAY = 1016;

/**
 * The shared pool as Kysely sees it: BIGINT arrives as bigint. The parsers go with each query, because a parser set for the
 * whole process would reach Prisma, which expects text. `sum` of a BIGINT is NUMERIC and stays text: cast it.
 */
export function kyselyPool(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => withBigints(await pool.connect()),
    end: async () => {}, // whoever made the pool ends it
  };
}

/** Kysely's type also has cursors, which its dialect is not given. */
function withBigints(client: pg.PoolClient): PostgresPoolClient {
  const query = (text: string, values: unknown[]) => client.query({ text, values, types: bigintTypes });
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

const getTypeParser: pg.CustomTypesConfig["getTypeParser"] = (oid: number, format: unknown) => {
  if (oid === INT8) return BigInt;
  if (oid === INT8_ARRAY) return parseBigints;
  return pg.types.getTypeParser(oid, format as "text");
};

/** For a query whose BIGINT columns arrive as bigint. */
export const bigintTypes: pg.CustomTypesConfig = { getTypeParser };

/** One-dimensional, as all our columns are. */
function parseBigints(text: string): (bigint | null)[] {
  const items = text.slice(1, -1).split(",");
  return text === "{}" ? [] : items.map((item) => (item === "NULL" ? null : BigInt(item)));
}

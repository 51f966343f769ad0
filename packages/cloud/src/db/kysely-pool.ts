import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";

const INT8 = 20;
const INT8_ARRAY = 1016;

/**
 * Makes the shared pool fit Kysely: BIGINT arrives as bigint. The parsers are passed with each query, because a parser that is set for the
 * whole process would reach Prisma, which expects text. `sum` of a BIGINT is NUMERIC and stays text, so cast it.
 */
export function kyselyPool(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => withBigints(await pool.connect()),
    end: async () => {}, // the code that made the pool ends it
  };
}

/** The type of Kysely also has cursors, which its dialect does not get here. */
function withBigints(client: pg.PoolClient): PostgresPoolClient {
  const query = (text: string, values: unknown[]) => client.query({ text, values, types: bigintTypes });
  return { query, release: () => client.release() } as unknown as PostgresPoolClient;
}

const getTypeParser: pg.CustomTypesConfig["getTypeParser"] = (oid: number, format: unknown) => {
  if (oid === INT8) return BigInt;
  if (oid === INT8_ARRAY) return parseBigints;
  return pg.types.getTypeParser(oid, format as "text");
};

/** Types for a query whose BIGINT columns arrive as bigint. */
export const bigintTypes: pg.CustomTypesConfig = { getTypeParser };

/** The arrays are one-dimensional, as in all our columns. */
function parseBigints(text: string): (bigint | null)[] {
  const items = text.slice(1, -1).split(",");
  return text === "{}" ? [] : items.map((item) => (item === "NULL" ? null : BigInt(item)));
}

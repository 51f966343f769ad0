import type { Pool, QueryResultRow } from "pg";

type Statement<Row> = (pool: Pool, values: readonly unknown[]) => Promise<Row[]>;

/** A named prepared statement: each connection parses and plans it once. */
export function statement<Row extends QueryResultRow>(name: string, text: string): Statement<Row> {
  return async (pool, values) => (await pool.query<Row>({ name, text, values: [...values] })).rows;
}

/** A BIGINT as pg returns it. */
export type Int8 = string;

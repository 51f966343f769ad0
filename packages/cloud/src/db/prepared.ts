// A query that almost every request runs is a prepared statement: Kysely writes it once, with everything joined that the answer shows, and
// each connection parses and plans it once. Prisma would prepare each query anew, and run one for each relation.

import { createHash } from "node:crypto";
import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import type pg from "pg";
import type { Database } from "./client.ts";
import type { DB } from "./generated/tables.ts";
import { bigintTypes } from "./kysely-pool.ts";
import { PreparedQuery } from "./prepared-query.ts";

/** Builds queries and runs none. */
const builder = new Kysely<DB>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Runs a statement with these values for `$1`, `$2` and so on, and returns its rows. BIGINT arrives as bigint. */
type Statement<Row> = (db: Pick<Database, "pool">, values: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * Makes a statement for a query that almost every request runs. Kysely writes it once, and each connection parses and plans it once,
 * because it has a name there. The name is a hash of the text, so two statements never share one.
 */
export function prepare<Row>(build: (db: Kysely<DB>) => Compilable<Row>): Statement<Row> {
  const { sql: text, parameters } = build(builder).compile();
  if (parameters.length > 0) throw new TypeError(`values stand in a prepared statement; use sql.lit: ${text}`);
  return prepareText(text);
}

/** Makes such a statement of a text, for what Kysely cannot write. */
export function prepareText<Row>(text: string): Statement<Row> {
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const statement = { name, text, types: bigintTypes };
  return async ({ pool }, values) => {
    const query: unknown = new PreparedQuery(statement, values);
    return (await pool.query<Row & pg.QueryResultRow>(query as pg.QueryConfig)).rows;
  };
}

/** The value at this position, counted from 1. Its type is that of the column. */
export function parameter<T>(position: number): RawBuilder<T> {
  return sql.raw<T>(`$${position}`);
}

/** The value at this position with an explicit type, which a list of columns to insert needs. */
export function typed<T>(position: number, type: "text" | "bigint" | "jsonb"): RawBuilder<T> {
  return sql.raw<T>(`$${position}::${type}`);
}

/** Matches any of the texts in the array at this position. */
export function anyOf(position: number): RawBuilder<string> {
  return sql.raw<string>(`ANY($${position}::text[])`);
}

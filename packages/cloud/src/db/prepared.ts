// What is read by almost every request is a prepared statement: written by Kysely once, with everything joined that
// the answer shows, and parsed and planned by each connection once. Prisma prepares each query anew, and asks one
// for each relation.

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
import type { Database } from "./client.ts";
import type { DB } from "./generated/tables.ts";
import { bigintTypes } from "./kysely-pool.ts";

/** Builds queries and runs none. */
const builder = new Kysely<DB>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Runs a statement with these values for `$1`, `$2` and so on, and answers its rows. BIGINT arrives as bigint. */
type Statement<Row> = (db: Pick<Database, "pool">, values: readonly unknown[]) => Promise<readonly Row[]>;

/**
 * A statement for what almost every request asks. It is written by Kysely once, and each connection parses and plans it once,
 * because it has a name there. The name is a hash of the text, so two statements never share one.
 */
export function prepare<Row>(build: (db: Kysely<DB>) => Compilable<Row>): Statement<Row> {
  const { sql: text, parameters } = build(builder).compile();
  if (parameters.length > 0) throw new TypeError(`values stand in a prepared statement; use sql.lit: ${text}`);
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return async ({ pool }, values) => (await pool.query({ name, text, values: [...values], types: bigintTypes })).rows;
}

/** The value at this position, from 1. The type is that of the column. */
export function parameter<T>(position: number): RawBuilder<T> {
  return sql.raw<T>(`$${position}`);
}

/** The same with a type of its own, as it needs in a list of columns to insert. */
export function typed<T>(position: number, type: "text" | "bigint" | "jsonb"): RawBuilder<T> {
  return sql.raw<T>(`$${position}::${type}`);
}

/** Any of the texts in the array at this position. */
export function anyOf(position: number): RawBuilder<string> {
  return sql.raw<string>(`ANY($${position}::text[])`);
}

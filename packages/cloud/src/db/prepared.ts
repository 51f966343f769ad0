// A query that almost every request runs is a prepared statement: Kysely writes it once, with everything joined that the answer shows, and
// each connection parses and plans it once. Prisma would prepare each query again, and run one for each relation.

import { createHash } from "node:crypto";
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import type pg from "pg";
import { bigintTypes } from "./bigint-types.ts";
import type { Database } from "./client.ts";
import type { DB } from "./generated/tables.ts";
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

/** Runs a statement with its values, by their names, and returns its rows. BIGINT arrives as bigint. */
type Statement<Values, Row> = (db: Pick<Database, "pool">, values: Values) => Promise<readonly Row[]>;

/** The values of a statement as expressions: each stands for one value wherever the statement names it. */
export type Parameters<Values> = { readonly [Name in keyof Values]-?: RawBuilder<Values[Name]> };

/** A query of Kysely, or its `sql`. */
interface Built<Row> {
  compile(db: Kysely<DB>): CompiledQuery<Row>;
}

/**
 * Makes a statement for a query that almost every request runs. Kysely writes it once, and each connection parses and plans it once,
 * because it has a name there. The name is a hash of the text, so two statements never share one. A value's type is that of the column which
 * it is compared with; elsewhere the statement says it (`asText` and the others below).
 */
export function prepare<Values extends object, Row>(
  build: (db: Kysely<DB>, parameters: Parameters<Values>) => Built<Row>,
): Statement<Values, Row> {
  const names: string[] = [];
  const { sql: text, parameters } = build(builder, namedParameters(names)).compile(builder);
  if (parameters.length > 0) throw new TypeError(`values stand in a prepared statement; use sql.lit: ${text}`);
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const statement = { name, text, types: bigintTypes };
  return async ({ pool }, values) => {
    const inOrder = names.map((parameter) => values[parameter as keyof Values]);
    const query: unknown = new PreparedQuery(statement, inOrder);
    return (await pool.query<Row & pg.QueryResultRow>(query as pg.QueryConfig)).rows;
  };
}

/** Whatever is read of it is a parameter with that name, which takes the next number when it is read first. */
function namedParameters<Values>(names: string[]): Parameters<Values> {
  const numberOf = (name: string) => (names.includes(name) ? names.indexOf(name) + 1 : names.push(name));
  return new Proxy({}, { get: (_target, name) => sql.raw(`$${numberOf(String(name))}`) }) as Parameters<Values>;
}

/** A value with an explicit type, which a list of columns to insert needs. */
export const asText = <T extends string | null>(value: RawBuilder<T>) => sql<T>`${value}::text`;
export const asBigint = <T extends bigint | null>(value: RawBuilder<T>) => sql<T>`${value}::bigint`;
export const toJsonb = (value: RawBuilder<string>) => sql<string>`${value}::jsonb`;

/** Matches any of the texts of an array. */
export function anyOf(texts: RawBuilder<readonly string[]>): RawBuilder<string> {
  return sql<string>`ANY(${texts}::text[])`;
}

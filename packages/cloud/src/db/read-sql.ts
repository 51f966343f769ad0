import type { Database } from "./client.ts";
import type { Prisma } from "./generated/client.ts";
import { bigintTypes } from "./kysely-pool.ts";
import type { Transaction } from "./transaction.ts";

/** Reads the rows of a query that was put together for one request. */
export type ReadSql = <Row>(query: Prisma.Sql) => Promise<Row[]>;

/**
 * As Prisma's `$queryRaw` does, without what Prisma does around it. BIGINT arrives as bigint. The statement has no name: a plan that
 * is kept would know nothing of the values, and lists live from plans that do.
 */
export function readingFrom({ pool }: Pick<Database, "pool">): ReadSql {
  return async ({ text, values }) => (await pool.query({ text, values, types: bigintTypes })).rows;
}

/** Reads in a transaction, with what it has changed. */
export function readingIn(tx: Transaction): ReadSql {
  return (query) => tx.$queryRaw(query);
}

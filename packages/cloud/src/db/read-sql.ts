import { bigintTypes } from "./bigint-types.ts";
import type { Database } from "./client.ts";
import type { Prisma } from "./generated/client.ts";
import type { Transaction } from "./transaction.ts";

/** Reads the rows of a query that was composed for one request. */
export type ReadSql = <Row>(query: Prisma.Sql) => Promise<Row[]>;

/**
 * Reads like Prisma's `$queryRaw`, without Prisma's overhead. BIGINT arrives as bigint. The statement has no name: a plan that is kept
 * would not know the values, and lists need plans that do.
 */
export function newPoolReader({ pool }: Pick<Database, "pool">): ReadSql {
  return async ({ text, values }) => (await pool.query({ text, values, types: bigintTypes })).rows;
}

/** Writes by a statement that was composed for one request. Returns how many rows it changed. */
export async function writeSql({ pool }: Pick<Database, "pool">, { text, values }: Prisma.Sql): Promise<number> {
  return (await pool.query({ text, values })).rowCount ?? 0;
}

/** Reads in a transaction, and so sees its changes. */
export function newTransactionReader(tx: Transaction): ReadSql {
  return (query) => tx.$queryRaw(query);
}

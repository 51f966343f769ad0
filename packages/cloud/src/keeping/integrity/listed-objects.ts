// The listing is kept in a temporary table of one connection. Postgres joins it with the rows, so that this process never has a list of
// objects in its memory. A temporary table is not written to the write-ahead log, and ends with its connection.

import type pg from "pg";
import { pacePages } from "../../core/pace.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { ListedObject } from "../../store/blobs/blob-store.ts";
import { groupItems } from "./group-items.ts";

const ROWS_PER_STATEMENT = 500;

/** A connection of its own, in which the temporary table `listed` has the objects of the store. */
export interface Session extends AsyncDisposable {
  query<Row extends pg.QueryResultRow>(sql: Prisma.Sql): Promise<Row[]>;
}

/** Disposing ends the connection, and its tables with it. */
export async function openSession(pool: pg.Pool): Promise<Session> {
  const client = await pool.connect();
  const session: Session = {
    query: async ({ text, values }) => (await client.query({ text, values })).rows,
    [Symbol.asyncDispose]: async () => client.release(true),
  };
  await session.query(Prisma.sql`SET statement_timeout = 0`);
  await session.query(Prisma.sql`SET max_parallel_workers_per_gather = 0`); // calls have the other processors
  await session.query(Prisma.sql`CREATE TEMPORARY TABLE listed
    (key text NOT NULL, "isWhole" boolean NOT NULL, "sizeBytes" bigint NOT NULL, "modifiedAtMs" bigint NOT NULL)`);
  return session;
}

/** Adds rows to a temporary table; members that are no columns of it are left out. */
export async function keepRows(session: Session, table: string, rows: readonly object[]): Promise<void> {
  const name = Prisma.raw(table);
  await session.query(
    Prisma.sql`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, ${JSON.stringify(rows)}::json)`,
  );
}

/** Returns how many objects the store has. */
export async function keepListing(session: Session, objects: AsyncIterable<ListedObject>): Promise<number> {
  let count = 0;
  for await (const group of pacePages(groupItems(objects, ROWS_PER_STATEMENT))) {
    const rows = group.map((object) => ({ ...object, modifiedAtMs: Math.trunc(object.modifiedAtMs) }));
    await keepRows(session, "listed", rows);
    count += rows.length;
  }
  await session.query(Prisma.sql`CREATE INDEX ON listed (key)`);
  await session.query(Prisma.sql`ANALYZE listed`);
  return count;
}

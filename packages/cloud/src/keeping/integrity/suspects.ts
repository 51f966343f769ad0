import type pg from "pg";
import { Prisma } from "../../db/generated/client.ts";
import type { Session } from "./listed-objects.ts";

const PAGE = 200;

/**
 * Yields the rows of a statement a page at a time, whatever their number: they are kept in a temporary table. The statement's columns need
 * names.
 */
export async function* pagesOf<Row extends pg.QueryResultRow>(
  session: Session,
  sql: Prisma.Sql,
): AsyncGenerator<Row[], void> {
  await session.query(
    Prisma.sql`CREATE TEMPORARY TABLE suspects AS SELECT row_number() OVER () AS place, s.* FROM (${sql}) s`,
  );
  try {
    for (let after = "0"; ; ) {
      const page = await session.query<Row & { place: string }>(
        Prisma.sql`SELECT * FROM suspects WHERE place > ${after} ORDER BY place LIMIT ${PAGE}`,
      );
      if (page.length === 0) return;
      yield page;
      after = page.at(-1)!.place;
    }
  } finally {
    await session.query(Prisma.sql`DROP TABLE suspects`);
  }
}

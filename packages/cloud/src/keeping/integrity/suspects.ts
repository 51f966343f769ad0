import type pg from "pg";
import type { Session } from "./listed-objects.ts";

const PAGE = 200;

/**
 * Yields the rows of a statement a page at a time, whatever their number: they are kept in a temporary table. The statement's columns need
 * names.
 */
export async function* pagesOf<Row extends pg.QueryResultRow>(
  session: Session,
  sql: string,
  values: readonly unknown[] = [],
): AsyncGenerator<Row[], void> {
  await session.query(
    `CREATE TEMPORARY TABLE suspects AS SELECT row_number() OVER () AS place, s.* FROM (${sql}) s`,
    values,
  );
  try {
    for (let after = "0"; ; ) {
      const page = await session.query<Row & { place: string }>(
        `SELECT * FROM suspects WHERE place > $1 ORDER BY place LIMIT ${PAGE}`,
        [after],
      );
      if (page.length === 0) return;
      yield page;
      after = page.at(-1)!.place;
    }
  } finally {
    await session.query("DROP TABLE suspects");
  }
}

import type { Database } from "../db/client.ts";

export interface Row {
  readonly table: string;
  /** The whole row as JSON: two that are alike are one. */
  readonly text: string;
}

/** Every row of every table, but for when a token was used last: that is written at times of its own. */
export async function readAllRows({ prisma }: Database): Promise<Row[]> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`;
  const all = tables.map(
    ({ name }) => `SELECT '${name}' AS "table", (to_jsonb(t) - 'lastUsedAtNs')::text AS text FROM "${name}" t`,
  );
  return prisma.$queryRawUnsafe<Row[]>(all.join(" UNION ALL "));
}

/**
 * The rows that belong to a project: by their `projectId`, or by their `projectIds` where they are for it alone, and all that
 * refer to one of those, unless they are another project's.
 */
export function rowsOfProject(rows: readonly Row[], projectId: string): Set<Row> {
  const fields = new Map(rows.map((row) => [row, JSON.parse(row.text) as Record<string, unknown>]));
  const own = new Set<Row>();
  const ids = new Set<unknown>([projectId]);
  const isOwn = ({ projectId: ofProject, projectIds, ...others }: Record<string, unknown>) => {
    if (ofProject !== undefined && ofProject !== null) return ofProject === projectId;
    if (Array.isArray(projectIds)) return projectIds.length > 0 && projectIds.every((id) => id === projectId);
    return Object.values(others).some((value) => ids.has(value));
  };
  for (let before = -1; before < own.size; ) {
    before = own.size;
    for (const [row, values] of fields) {
      if (own.has(row) || !isOwn(values)) continue;
      own.add(row);
      if (typeof values.id === "string") ids.add(values.id);
    }
  }
  return own;
}

/** The ids of some rows, by which an answer would reveal them. */
export function idsOf(rows: Iterable<Row>): string[] {
  return Array.from(rows, ({ text }) => (JSON.parse(text) as { id?: unknown }).id).filter(
    (id) => typeof id === "string",
  );
}

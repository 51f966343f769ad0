import type { Database } from "../db/client.ts";

export interface Row {
  readonly table: string;
  /** The whole row as JSON, so that equal rows are one. */
  readonly text: string;
}

/** An entry of the ledger belongs to whom the row belongs that it is about, whose fields it holds. */
const ledgerEntry = "data || to_jsonb(t) - 'data'";

/** Reads every row of every table, without the last use of tokens and the marks of the deployment, which are written at times of their own. */
export async function readAllRows({ prisma }: Database): Promise<Row[]> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename NOT IN ('_prisma_migrations', 'DeploymentMark')`;
  const all = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS "table", (${name === "LedgerEntry" ? ledgerEntry : "to_jsonb(t)"} - 'lastUsedAtNs')::text AS text FROM "${name}" t`,
  );
  return prisma.$queryRawUnsafe<Row[]>(all.join(" UNION ALL "));
}

/**
 * Returns the rows that belong to a project: by their `projectId`, or by `projectIds` that name only this project, and all rows that refer
 * to one of those, unless they belong to another project.
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

/** Returns the ids of some rows, by which an answer would reveal them. */
export function idsOf(rows: Iterable<Row>): string[] {
  return Array.from(rows, ({ text }) => (JSON.parse(text) as { id?: unknown }).id).filter(
    (id) => typeof id === "string",
  );
}

import { Prisma } from "../db/generated/client.ts";
import type { Listed } from "./find-page.ts";

type Sql = Prisma.Sql;

/** A part of a table's rows `r`, as an index that begins with the organization has them sorted. */
export interface ColumnPart {
  /** None: by the id alone. */
  readonly column: string | undefined;
  readonly where: readonly Sql[];
}

export interface ColumnFilter {
  readonly where: Sql;
  /** What it asks of: where the rows are sorted by it, the order's own index serves the filter. */
  readonly column?: string;
  /** It leaves one value of the column, and so the order of the ids. */
  readonly isExact?: boolean;
}

interface ColumnList {
  readonly table: string;
  readonly orgId: string;
  readonly part: ColumnPart;
  readonly filters: readonly ColumnFilter[];
  readonly sortOrder: "asc" | "desc";
}

/** The rows of one organization in the order of one column, for {@link findPage}. */
export function listByColumn({ table, orgId, part, filters, sortOrder }: ColumnList): Listed {
  const leading = filters.filter(({ column }) => column !== undefined && column === part.column);
  const crossing = filters.filter((filter) => !leading.includes(filter)).map(({ where }) => where);
  const { keys, unindexedKeys } = keysOf(leading.some(({ isExact }) => isExact) ? undefined : part.column);
  const where = [Prisma.sql`r."orgId" = ${orgId}`, ...part.where, ...leading.map((filter) => filter.where)];
  const rows = { from: Prisma.raw(`"${table}" r`), where, ranges: [], sortOrder };
  return {
    inOrder: { ...rows, keys },
    filters: crossing,
    matching: { ...rows, where: [...where, ...crossing], keys: unindexedKeys },
  };
}

/** What the rows are sorted by, before the id, and the same by expressions that no index has. */
function keysOf(column: string | undefined): { keys: Sql[]; unindexedKeys: Sql[] } {
  if (column === undefined) return { keys: [], unindexedKeys: [Prisma.sql`r.id || ''`] };
  const key = Prisma.raw(`r."${column}"`);
  return { keys: [key], unindexedKeys: [column.endsWith("Ns") ? Prisma.sql`${key} + 0` : Prisma.sql`${key} || ''`] };
}

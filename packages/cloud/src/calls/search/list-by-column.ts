import { Prisma } from "../../db/generated/client.ts";
import { avoidIndex } from "../../db/text-sql.ts";
import type { Listed } from "./find-page.ts";

type Sql = Prisma.Sql;

/** A part of a table's rows `r`, in the order of an index that begins with the organization. */
export interface ColumnPart {
  /** The column to sort by; undefined: by the id alone. */
  readonly column: string | undefined;
  readonly where: readonly Sql[];
  /** Further columns of the index. */
  readonly covers: readonly string[];
}

export interface ColumnFilter {
  readonly where: Sql;
  /** The same condition, for an index that finds matching rows. */
  readonly narrowed?: Sql;
  /** The column that the condition is about: if the rows are sorted by it, the order's own index serves the filter. */
  readonly column?: string;
  /** The column by which the filter's own index has the matching rows sorted. */
  readonly orderedBy?: string;
  /** It leaves one value of the column, and so the order of the ids. */
  readonly isExact?: boolean;
}

interface ColumnList {
  readonly table: string;
  readonly orgId: string;
  readonly part: ColumnPart;
  readonly filters: readonly ColumnFilter[];
  /** Disjoint ranges of the matching rows, each of an index. */
  readonly ranges?: readonly Sql[];
  readonly sortOrder: "asc" | "desc";
}

/** The rows of one organization in the order of one column, for {@link findPage}. */
export function listByColumn({ table, orgId, part, filters, ranges = [], sortOrder }: ColumnList): Listed {
  const leading = filters.filter(({ column, orderedBy }) => part.column && [column, orderedBy].includes(part.column));
  const crossing = filters.filter((filter) => !leading.includes(filter));
  const { keys, unindexedKeys } = keysOf(leading.some(({ isExact }) => isExact) ? undefined : part.column);
  const where = [Prisma.sql`r."orgId" = ${orgId}`, ...part.where, ...leading.map((filter) => filter.where)];
  const rows = { from: Prisma.raw(`"${table}" r`), where, ranges: [], sortOrder };
  return {
    inOrder: { ...rows, keys },
    filters: crossing.map((filter) => filter.where),
    isCovered: crossing.every(({ column }) => column !== undefined && part.covers.includes(column)),
    matching: {
      ...rows,
      where: [...where, ...crossing.map((filter) => filter.narrowed ?? filter.where)],
      ranges,
      keys: unindexedKeys,
    },
  };
}

/** Returns what the rows are sorted by, before the id, and the same by expressions that no index has. */
function keysOf(column: string | undefined): { keys: Sql[]; unindexedKeys: Sql[] } {
  if (column === undefined) return { keys: [], unindexedKeys: [avoidIndex(Prisma.sql`r.id`, "text")] };
  const key = Prisma.raw(`r."${column}"`);
  return { keys: [key], unindexedKeys: [avoidIndex(key, column.endsWith("Ns") ? "number" : "text")] };
}

import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { DB } from "../../db/generated/tables.ts";
import type { Parameters } from "../../db/prepared.ts";
import { FEW } from "../../db/read-in-batches.ts";
import type { Ctx } from "../context/context.ts";

type Listed = "Recording" | "Event" | "Device";

interface PlainQuery {
  readonly limit: number;
  readonly offset: number;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: "asc" | "desc";
}

/**
 * Says whether a caller that sees all of the organization asks for a few of the oldest rows, and filters only by these names. That is the
 * most frequent list, and an index has it in this order: a prepared statement can answer it, and nothing need be planned.
 */
export function isFirstPage(
  { caller }: Pick<Ctx, "caller">,
  query: PlainQuery,
  names: readonly string[] = [],
): boolean {
  const { limit, offset, sortBy, sortOrder = "asc", ...filters } = query;
  const isPlain = offset === 0 && limit > 0 && limit <= FEW && sortBy === undefined && sortOrder === "asc";
  if (!isPlain || caller.projectIds.length > 0) return false;
  return Object.entries(filters).every(([name, value]) => value === undefined || names.includes(name));
}

/** Adds a row's place in that list. */
export function placeByCreation<Row extends { readonly createdAtNs: bigint }>(
  row: Row,
): Row & { readonly sortValue: string } {
  return { ...row, sortValue: String(row.createdAtNs) };
}

/** The values of the statement for the oldest rows of an organization, at most so many, which may be one more than a page has; */
export interface FirstPage {
  readonly orgId: string;
  readonly limit: number;
}

/** for those of a device; */
export interface FirstPageOfDevice extends FirstPage {
  readonly deviceId: string;
}

/** and for rows whose ids are known. */
export interface ByIds {
  readonly ids: readonly string[];
}

interface Oldest<T extends Listed> extends Parameters<FirstPage> {
  readonly table: T;
  /** Present for the rows of one device only. */
  readonly deviceId?: RawBuilder<string>;
  /** No index has the rows in this order: they are sorted by what an index holds, and only the first ones are read. */
  readonly isSorted?: boolean;
}

/** Selects the oldest rows `r` of a table. */
export function oldest<T extends Listed>(
  db: Kysely<DB>,
  { table, orgId, limit, deviceId, isSorted }: Oldest<T>,
): Rows<T> {
  const from = sql.table(table);
  const ofDevice = deviceId ? sql` AND "deviceId" = ${deviceId}` : sql``;
  // A limit that is a parameter gives the planner no number: it would sort all rows of a large organization.
  const first = sql`WHERE "orgId" = ${orgId}${ofDevice} ORDER BY "createdAtNs", id LIMIT ${sql.lit(FEW + 1)}`;
  const rows = isSorted
    ? sql<DB[T]>`(SELECT t.* FROM (SELECT id FROM ${from} ${first}) AS first JOIN ${from} AS t ON t.id = first.id)`
    : sql<DB[T]>`(SELECT * FROM ${from} ${first})`;
  const ordered = db.selectFrom(rows.as("r")).orderBy(sql`r."createdAtNs"`).orderBy(sql`r.id`);
  return ordered.limit(limit) as unknown as Rows<T>;
}

/** A table as `r`, of which nothing is selected yet. */
export type Rows<T extends Listed> = SelectQueryBuilder<DB & { r: DB[T] }, "r", object>;

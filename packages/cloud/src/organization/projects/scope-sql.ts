import { type RawBuilder, sql } from "kysely";
import { Prisma } from "../../db/generated/client.ts";
import type { Parameters } from "../../db/prepared.ts";

interface Scope {
  readonly orgId: string;
  readonly projectId?: string | { readonly in: readonly string[] } | undefined;
}

/** Expresses `visibleTo` and `visibleIn` as SQL: the rows of the table with this alias that lie within. */
export function scopeWhere(alias: string, { orgId, projectId }: Scope): Prisma.Sql[] {
  return [Prisma.sql`${Prisma.raw(alias)}."orgId" = ${orgId}`, ...projectWhere(alias, { projectId })];
}

/** The part of {@link scopeWhere} about projects, for rows that are known to be of the organization. */
export function projectWhere(alias: string, { projectId }: Pick<Scope, "projectId">): Prisma.Sql[] {
  if (projectId === undefined) return [];
  const project = Prisma.sql`${Prisma.raw(alias)}."projectId"`;
  if (typeof projectId === "string") return [Prisma.sql`${project} = ${projectId}`];
  return [Prisma.sql`${project} = ANY(${[...projectId.in]})`];
}

/**
 * The part of the data that a caller may see, as the values of a prepared statement: an organization, and projects of it; an empty list
 * stands for all of them.
 */
export interface Tenancy {
  readonly orgId: string;
  readonly projectIds: readonly string[];
}

/** The condition of a prepared statement that a row of the table with this alias lies within. */
export function within(alias: string, { orgId, projectIds }: Parameters<Tenancy>): RawBuilder<boolean> {
  const [org, project] = ["orgId", "projectId"].map((column) => sql.ref(`${alias}.${column}`));
  return sql<boolean>`${org} = ${orgId} AND ${isAmong(project!, projectIds)}`;
}

/** An empty list stands for all projects. */
export function isAmong(project: RawBuilder<unknown>, projectIds: RawBuilder<readonly string[]>): RawBuilder<boolean> {
  return sql<boolean>`(${projectIds}::text[] = '{}' OR ${project} = ANY(${projectIds}))`;
}

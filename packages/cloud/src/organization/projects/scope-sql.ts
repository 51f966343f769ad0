import { type RawBuilder, sql } from "kysely";
import { Prisma } from "../../db/generated/client.ts";

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

/** The condition of a prepared statement that a project is in the array at this position; an empty array stands for all projects. */
export function inProjects(column: string, position: number): RawBuilder<boolean> {
  return sql<boolean>`(${sql.raw(`$${position}`)}::text[] = '{}' OR ${sql.ref(column)} = ${sql.raw(`ANY($${position})`)})`;
}

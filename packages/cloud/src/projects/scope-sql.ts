import { type RawBuilder, sql } from "kysely";
import { Prisma } from "../db/generated/client.ts";

interface Scope {
  readonly orgId: string;
  readonly projectId?: string | { readonly in: readonly string[] };
}

/** Says as SQL what `visibleTo` and `visibleIn` say: the rows of the table with this alias that lie within. */
export function scopeWhere(alias: string, { orgId, projectId }: Scope): Prisma.Sql[] {
  const org = Prisma.sql`${Prisma.raw(alias)}."orgId" = ${orgId}`;
  if (projectId === undefined) return [org];
  const project = Prisma.sql`${Prisma.raw(alias)}."projectId"`;
  if (typeof projectId === "string") return [org, Prisma.sql`${project} = ${projectId}`];
  return [org, Prisma.sql`${project} = ANY(${[...projectId.in]})`];
}

/**
 * Says in a prepared statement that a project is among those in the array at this position; an empty array stands for
 * all.
 */
export function inProjects(column: string, position: number): RawBuilder<boolean> {
  return sql<boolean>`(${sql.raw(`$${position}`)}::text[] = '{}' OR ${sql.ref(column)} = ${sql.raw(`ANY($${position})`)})`;
}

import { Prisma } from "../db/generated/client.ts";

interface Scope {
  readonly orgId: string;
  readonly projectId?: string | { readonly in: readonly string[] };
}

/** As SQL, what `visibleTo` and `visibleIn` say: the rows of the table with this alias that lie within. */
export function scopeWhere(alias: string, { orgId, projectId }: Scope): Prisma.Sql[] {
  const org = Prisma.sql`${Prisma.raw(alias)}."orgId" = ${orgId}`;
  if (projectId === undefined) return [org];
  const project = Prisma.sql`${Prisma.raw(alias)}."projectId"`;
  if (typeof projectId === "string") return [org, Prisma.sql`${project} = ${projectId}`];
  return [org, Prisma.sql`${project} = ANY(${[...projectId.in]})`];
}

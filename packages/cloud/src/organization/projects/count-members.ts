import type { Ctx } from "../../calls/context/context.ts";

/** How many members see each project, by its id. */
export type MemberCounts = ReadonlyMap<string, number>;

/**
 * Counts who sees each of these projects: the admins, and of the others all or, where it is invite-only, those that it names. The members of
 * the organization are counted once, however many projects there are.
 */
export async function countMembers(
  { caller, db }: Pick<Ctx, "caller" | "db">,
  ids: readonly string[],
): Promise<MemberCounts> {
  if (ids.length === 0) return new Map();
  const rows = await db.prisma.$queryRaw<{ id: string; count: number }[]>`
    WITH everybody AS (
      SELECT count(*)::int AS all_of_them, count(*) FILTER (WHERE role = 'admin')::int AS admins FROM "Member" WHERE "orgId" = ${caller.orgId}
    )
    SELECT p.id, CASE WHEN p."isInviteOnly" THEN e.admins + (
      SELECT count(*)::int FROM "ProjectMember" pm JOIN "Member" m ON m.id = pm."memberId" WHERE pm."projectId" = p.id AND m.role <> 'admin'
    ) ELSE e.all_of_them END AS count
    FROM "Project" p, everybody e WHERE p."orgId" = ${caller.orgId} AND p.id = ANY(${[...ids]})`;
  return new Map(rows.map(({ id, count }) => [id, count]));
}

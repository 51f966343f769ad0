import type { Transaction } from "../../db/transaction.ts";

/** Ends the view links of members who do not see their project any more. */
export async function endUnseenLinks(tx: Pick<Transaction, "$executeRaw">, orgId: string): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM "ViewLink" v USING "Member" m, "Project" p
    WHERE v."orgId" = ${orgId} AND m.id = v."memberId" AND p.id = v."projectId" AND m.role <> 'admin' AND p."isInviteOnly"
      AND NOT EXISTS (SELECT FROM "ProjectMember" pm WHERE pm."projectId" = p.id AND pm."memberId" = m.id)`;
}

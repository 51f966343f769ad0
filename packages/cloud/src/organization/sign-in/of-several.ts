import { ApiError } from "../../core/errors.ts";
import type { Transaction } from "../../db/transaction.ts";

const MOST_NAMED = 20;

/** Refuses a sign-in that could be in any of several organizations, and names them: who gets this answer has proven who they are. */
export async function refuseSeveral(
  tx: Pick<Transaction, "organization">,
  ids: readonly string[],
  what: string,
): Promise<never> {
  const organizations = await tx.organization.findMany({
    where: { id: { in: [...ids] } },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: MOST_NAMED,
    select: { id: true, name: true },
  });
  throw new ApiError("OrganizationRequired", `organization is required: ${what}`, { organizations });
}

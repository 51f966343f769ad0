import type { Member } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { AccountModel, MemberModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

export const withAccount = { include: { account: true } } as const;

export async function findMember(tx: Transaction, { caller }: Ctx, id: string) {
  const row = await tx.member.findFirst({ where: { id, orgId: caller.orgId }, ...withAccount });
  return row ?? throwNotFound(`member ${id}`);
}

export function toMember({ account, ...row }: MemberModel & { readonly account: AccountModel }): Complete<Member> {
  const { id, role, createdAtNs: createdAt } = row;
  return { id, email: account.email, name: account.name ?? undefined, role, createdAt };
}

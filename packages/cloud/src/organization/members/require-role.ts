import { EVERY_CAPABILITY, type MemberRole, userCapabilities } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { refuse } from "../../core/errors.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findLacking } from "../api-keys/key-grants.ts";

/** Refuses a role that may do more than the caller: no caller gives away more than it may do itself. */
export function requireHeldRole({ caller }: Ctx, role: MemberRole): void {
  const missing = findLacking(caller.capabilities, role === "admin" ? [EVERY_CAPABILITY] : userCapabilities);
  if (missing.length > 0)
    refuse(
      "MissingCapability",
      `who makes a member ${role} must hold what that may do; this lacks ${missing.join(", ")}`,
    );
}

/** Changes of an organization's members run one after another, so that two last admins cannot each remove the other. */
export async function holdMembers(tx: Transaction, orgId: string): Promise<void> {
  await tx.$queryRaw`SELECT "id" FROM "Organization" WHERE "id" = ${orgId} FOR NO KEY UPDATE`;
}

/** A call that lets an account open something, and a call that lets others open the account, wait for each other. */
export async function holdAccount(tx: Transaction, accountId: string): Promise<void> {
  await tx.$queryRaw`SELECT "id" FROM "Account" WHERE "id" = ${accountId} FOR NO KEY UPDATE`;
}

export async function requireAnAdmin(tx: Transaction, orgId: string): Promise<void> {
  if ((await tx.member.count({ where: { orgId, role: "admin" } })) === 0)
    refuse("Conflict", "this is the last admin of the organization; make another member an admin first");
}

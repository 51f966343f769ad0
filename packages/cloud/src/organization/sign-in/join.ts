import type { MemberRole } from "@downlink/protocol";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { requireRoomForMember } from "../../calls/quotas/require-room.ts";
import { refuse } from "../../core/errors.ts";
import type { AccountModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import type { Transaction } from "../../db/transaction.ts";
import { holdAccount, holdMembers } from "../members/require-role.ts";

/** A call of a person who has not signed in yet. */
export interface Stranger extends Deps, Pick<Ctx, "address" | "goneSignal" | "requestId"> {
  /** The cookie of the session that the browser has had; undefined: it had none. */
  readonly formerToken: string | undefined;
}

const MEMBER_ALREADY = "you are a member of the organization already";

interface Joining {
  readonly orgId: string;
  readonly role: MemberRole;
  readonly account: AccountModel;
  readonly operation: string;
  /** Other facts that prove who the person is. */
  readonly proof?: Readonly<Record<string, string>>;
}

/** Makes the account a member, and writes that into the audit log. */
export async function join(ctx: Stranger, tx: Transaction, joining: Joining): Promise<string> {
  const { orgId, role, account, operation, proof } = joining;
  await holdMembers(tx, orgId);
  await holdAccount(tx, account.id);
  // A link that an admin of another organization holds must not open this one.
  await tx.passwordReset.deleteMany({ where: { accountId: account.id } });
  // Another account with the address would be another person in the list of members, by the same name.
  const same = { OR: [{ accountId: account.id }, { account: { email: account.email } }] };
  if ((await tx.member.count({ where: { orgId, ...same } })) > 0) refuse("NameTaken", MEMBER_ALREADY);
  await requireRoomForMember(tx, orgId);
  const [id, nowNs] = [newId("mem"), ctx.clock.nowNs()];
  const data = { id, orgId, accountId: account.id, role, createdAtNs: nowNs };
  await tx.member.create({ data }).catch(onUniqueViolation(() => refuse("NameTaken", MEMBER_ALREADY)));
  const who = { actorKind: "member", actorId: id, actorName: account.email } as const;
  const actor = { ...who, address: ctx.address(), requestId: ctx.requestId };
  const change = { operation, resourceKind: "member", resourceId: id } as const;
  await writeEntry(tx, actor, { orgId, nowNs, ...change, after: { email: account.email, role, ...proof } });
  return id;
}

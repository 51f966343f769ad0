import type { MemberRole } from "@downlink/protocol";
import type { Transaction } from "../../db/transaction.ts";
import { holdMembers } from "../members/require-role.ts";
import type { Stranger } from "./join.ts";
import { refuseSeveral } from "./of-several.ts";

/** The organization that lets a person in, and the role that the person gets there. */
interface Entry {
  readonly orgId: string;
  readonly role: MemberRole;
}

interface Asked {
  /** One that the provider has verified. */
  readonly email: string;
  /** Undefined: whichever lets them in. */
  readonly organization: string | undefined;
}

/** Returns the organization that lets this address in, and uses its invitation up; undefined: none does. */
export async function findEntry(ctx: Stranger, tx: Transaction, asked: Asked): Promise<Entry | undefined> {
  const first = await tx.organization.findFirstOrThrow({ orderBy: [{ createdAtNs: "asc" }, { id: "asc" }] });
  const mayBeFirst = asked.organization === undefined || asked.organization === first.id;
  const { adminEmail, allowedDomains } = ctx.signIns;
  if (mayBeFirst && asked.email === adminEmail && (await hasNoMember(tx, first.id)))
    return { orgId: first.id, role: "admin" };
  const invited = await useInvitation(ctx, tx, asked);
  if (invited) return invited;
  const domain = asked.email.slice(asked.email.lastIndexOf("@") + 1);
  return mayBeFirst && allowedDomains.includes(domain) ? { orgId: first.id, role: "user" } : undefined;
}

async function hasNoMember(tx: Transaction, orgId: string): Promise<boolean> {
  await holdMembers(tx, orgId);
  return (await tx.member.count({ where: { orgId } })) === 0;
}

/** If an organization has invited the address several times, the last invitation counts, and all are used up. */
async function useInvitation(ctx: Stranger, tx: Transaction, asked: Asked): Promise<Entry | undefined> {
  const { email, organization } = asked;
  const invitations = await tx.invitation.findMany({
    where: {
      email,
      expiresAtNs: { gt: ctx.clock.nowNs() },
      ...(organization !== undefined && { orgId: organization }),
    },
    orderBy: [{ createdAtNs: "desc" }, { id: "desc" }],
  });
  const [last] = invitations;
  if (!last) return undefined;
  const { orgId, role } = last;
  if (invitations.some((other) => other.orgId !== orgId))
    return refuseSeveral(
      tx,
      invitations.map((one) => one.orgId),
      "several have invited you",
    );
  // An admin may withdraw it, or its link be accepted, at this very moment: only who deletes it enters by it.
  const ids = invitations.map(({ id }) => id);
  const { count } = await tx.invitation.deleteMany({ where: { id: { in: ids } } });
  return count === ids.length ? { orgId, role } : undefined;
}

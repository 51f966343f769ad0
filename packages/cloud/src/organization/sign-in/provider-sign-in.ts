// An account of a provider is an issuer and its `sub`, never an e-mail address, which changes hands. Other accounts may have the address,
// because a password account never proved that it owns it; but no two members of one organization.

import { refuse } from "../../core/errors.ts";
import type { AccountModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import type { ProvenPerson } from "../../process/identity-provider/identity-provider.ts";
import { beginSession, type NewSession } from "../members/begin-session.ts";
import { findEntry } from "./find-entry.ts";
import { join, type Stranger } from "./join.ts";
import { refuseSeveral } from "./of-several.ts";

/** Begins the session of who the provider says it is, in the organization that was asked for or in the only one. */
export async function signInProven(
  ctx: Stranger,
  person: ProvenPerson,
  organization: string | undefined,
): Promise<NewSession> {
  return withTransaction(ctx.db, async (tx) => {
    const account = (await findAccount(tx, person)) ?? (await createAccount(ctx, tx, person));
    const memberId = await memberOf(ctx, tx, { account, person, organization });
    return beginSession(tx, { memberId }, ctx);
  });
}

async function findAccount(tx: Transaction, { issuer, subject }: ProvenPerson): Promise<AccountModel | undefined> {
  const where = { issuer_subject: { issuer, subject } };
  return (await tx.accountIdentity.findUnique({ where, include: { account: true } }))?.account;
}

/**
 * Only the first sign-in looks at the address: the provider must have verified it, and it must be let in by an invitation, an allowed
 * domain, or DOWNLINK_ADMIN_EMAIL while the first organization has no member. First sign-ins run one after another, so that of two at the
 * same moment the second finds what the first made.
 */
async function createAccount(ctx: Stranger, tx: Transaction, person: ProvenPerson): Promise<AccountModel> {
  const { issuer, subject, email, name = null } = person;
  if (email === undefined)
    refuse("SignInRefused", "the provider does not say that it has verified your e-mail address");
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('downlink first sign-in', 0))`;
  const known = await findAccount(tx, person);
  if (known) return known;
  const createdAtNs = ctx.clock.nowNs();
  const identities = { create: { issuer, subject, createdAtNs } };
  return tx.account.create({ data: { id: newId("acc"), email, name, createdAtNs, identities } });
}

interface Entering {
  readonly account: AccountModel;
  readonly person: ProvenPerson;
  readonly organization: string | undefined;
}

/** A person who is a member already enters another organization only by asking for it: an invitation alone draws no member into one. */
async function memberOf(ctx: Stranger, tx: Transaction, { account, person, organization }: Entering): Promise<string> {
  const orgId = organization !== undefined && { orgId: organization };
  const members = await tx.member.findMany({ where: { accountId: account.id, ...orgId } });
  const [member, another] = members;
  if (another)
    return refuseSeveral(
      tx,
      members.map((one) => one.orgId),
      "the account is a member of several",
    );
  if (member) return member.id;
  const { issuer, subject, email } = person;
  const entry = email === account.email ? await findEntry(ctx, tx, { email, organization }) : undefined;
  if (!entry) refuse("SignInRefused", "you are not invited: ask an admin for an invitation");
  if ((await tx.member.count({ where: { orgId: entry.orgId, account: { email } } })) > 0)
    refuse(
      "SignInRefused",
      `${email} has an account there that signs in otherwise; an e-mail address alone never opens it`,
    );
  return join(ctx, tx, { ...entry, account, operation: "session.finishAtProvider", proof: { issuer, subject } });
}

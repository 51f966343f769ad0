// A person who cannot sign in learns only that the e-mail address and the password do not fit, whichever of the two is wrong, and after the
// same work. An invitation is used up when it is accepted; if the account exists already, accepting does not change its password, but asks
// for it.

import { type AcceptInvitation, Email, type SeenInvitation, type SignIn } from "@downlink/protocol";
import type { z } from "zod";
import { ApiError, invalid, refuse } from "../../core/errors.ts";
import type { AccountModel, InvitationModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { hashInTurn, MOST_ACCOUNTS, provePassword } from "../../process/passwords/prove-password.ts";
import { beginSession, type NewSession } from "../members/begin-session.ts";
import { writeFailedSignIn } from "../members/session-entries.ts";
import { join, type Stranger } from "./join.ts";
import { refuseSeveral } from "./of-several.ts";

/** Begins the session of a member, by e-mail address and password, or one of an API key, with exactly its rights. */
export async function signIn(ctx: Stranger, given: z.output<typeof SignIn>): Promise<NewSession> {
  const { email, password, apiKey, organization } = given;
  if (apiKey !== undefined) return exchangeKey(ctx, apiKey);
  if (email === undefined || password === undefined) invalid("", "email and password, or apiKey, must be given");
  requirePasswordsOn(ctx);
  const account = await requirePassword(ctx, { email: await findMeantEmail(ctx, email), password });
  const members = await ctx.db.prisma.member.findMany({
    where: { accountId: account.id, ...(organization !== undefined && { orgId: organization }) },
    select: { id: true, orgId: true },
  });
  const [member, another] = members;
  if (!member) throw doNotFit();
  if (another)
    return refuseSeveral(
      ctx.db.prisma,
      members.map(({ orgId }) => orgId),
      "the account is a member of several",
    );
  return withTransaction(ctx.db, (tx) => beginSession(tx, { memberId: member.id }, ctx));
}

/**
 * Returns the normal form of a typed address, unless an account from before there was one has the typed one. An address without a normal
 * form stays as it is, so that its answer is that of a wrong password, whether there is such an account or not.
 */
async function findMeantEmail({ db }: Stranger, typed: string): Promise<string> {
  const normal = Email.safeParse(typed);
  if (!normal.success || normal.data === typed) return typed;
  return (await db.prisma.account.count({ where: { email: typed } })) > 0 ? typed : normal.data;
}

async function exchangeKey(ctx: Stranger, apiKey: string): Promise<NewSession> {
  const tokenSha256 = hashToken(apiKey);
  const key = await ctx.credentials.find(tokenSha256);
  const hasEnded = key?.expiresAtNs != null && key.expiresAtNs <= ctx.clock.nowNs();
  if (key?.kind !== "apiKey" || hasEnded) throw new ApiError("Unauthenticated", "the API key is unknown or disabled");
  ctx.tokenUses.note(tokenSha256);
  return withTransaction(ctx.db, (tx) => beginSession(tx, { apiKeyId: key.tokenId }, ctx));
}

export function requirePasswordsOn({ signIns }: Stranger): void {
  if (!signIns.takesPasswords) refuse("SignInRefused", "passwords are off here: sign in at the provider");
}

async function requirePassword(
  ctx: Stranger,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<AccountModel> {
  const account = await provePassword(ctx, { email, address: ctx.address() }, password);
  if (account) return account;
  const known = await ctx.db.prisma.account.findMany({ where: { email }, select: { id: true }, take: MOST_ACCOUNTS });
  const writing = Promise.all(known.map(({ id: accountId }) => writeFailedSignIn(ctx, { accountId, email }))); // not awaited: the time would tell who has an account
  writing.catch((error) => ctx.log.warn({ err: error }, "a failed sign-in is not in the audit log"));
  throw doNotFit();
}

function doNotFit(): ApiError {
  return new ApiError("Unauthenticated", "the e-mail address and the password do not fit");
}

/** Tells the holder of the link what it is good for; it is not used up. */
export async function lookAtInvitation(ctx: Stranger, token: string): Promise<z.output<typeof SeenInvitation>> {
  const { prisma } = ctx.db;
  const { email, orgId, role, expiresAtNs: expiresAt } = await findInvitation(ctx, prisma, hashToken(token));
  const [organization, accounts] = await Promise.all([
    prisma.organization.findUniqueOrThrow({ where: { id: orgId }, select: { id: true, name: true } }),
    prisma.account.findMany({ where: { email }, select: { passwordHash: true } }),
  ]);
  return { email, organization, role, expiresAt, proof: proofOf(ctx, accounts) };
}

/** An account without a password is one of the provider. */
function proofOf({ signIns }: Stranger, accounts: readonly Pick<AccountModel, "passwordHash">[]) {
  if (!signIns.takesPasswords) return "provider";
  if (accounts.length === 0) return "newPassword";
  return accounts.some(({ passwordHash }) => passwordHash !== null) ? "password" : "provider";
}

type Acceptance = z.output<typeof AcceptInvitation>;

/**
 * Makes a member of who holds the link, and begins a session. An account that exists asks for its password. It may have been made by another
 * organization for an address that it does not own: `separate` makes another account, unless the password is that of one.
 */
export async function acceptInvitation(ctx: Stranger, given: Acceptance): Promise<NewSession> {
  const { token, password, name = null, separate } = given;
  requirePasswordsOn(ctx);
  const tokenSha256 = hashToken(token);
  const { email } = await findInvitation(ctx, ctx.db.prisma, tokenSha256);
  const tried = { email, address: ctx.address() };
  const known = await ctx.db.prisma.account.count({ where: { email } });
  if (separate && known >= MOST_ACCOUNTS) refuse("Conflict", `${email} has ${known} accounts, as many as there may be`);
  const own = known === 0 || separate ? undefined : await requirePassword(ctx, { email, password });
  const proven = separate ? await provePassword(ctx, tried, password) : own;
  const passwordHash = proven ? null : await hashInTurn(ctx, tried, password);
  return withTransaction(ctx.db, async (tx) => {
    const { orgId, role } = await useUp(ctx, tx, tokenSha256);
    const account = proven ?? (await createAccount(ctx, tx, { email, name, passwordHash, separate }));
    const memberId = await join(ctx, tx, { orgId, role, account, operation: "session.accept" });
    return beginSession(tx, { memberId }, ctx);
  });
}

async function findInvitation({ clock }: Stranger, tx: Pick<Transaction, "invitation">, tokenSha256: string) {
  const found = await tx.invitation.findUnique({ where: { tokenSha256 } });
  if (found && found.expiresAtNs > clock.nowNs()) return found;
  throw new ApiError("Unauthenticated", "the invitation is unknown, used, withdrawn or too old; ask for another");
}

/** If several calls accept the invitation at the same moment, one of them deletes it, and the others find nothing. */
async function useUp(ctx: Stranger, tx: Transaction, tokenSha256: string): Promise<InvitationModel> {
  const invitation = await findInvitation(ctx, tx, tokenSha256);
  const { count } = await tx.invitation.deleteMany({ where: { tokenSha256 } });
  return count === 1 ? invitation : findInvitation(ctx, tx, tokenSha256);
}

type NewAccount = Pick<AccountModel, "email" | "name" | "passwordHash"> & Pick<Acceptance, "separate">;

/** If another call made an account with the address at this moment, none is made, because that may be the caller's own. */
async function createAccount({ clock }: Stranger, tx: Transaction, { separate, ...given }: NewAccount) {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`account ${given.email}`}, 0))`;
  if (!separate && (await tx.account.count({ where: { email: given.email } })) > 0)
    refuse("Conflict", "the account was made at this moment; accept with its password");
  return tx.account.create({ data: { id: newId("acc"), ...given, createdAtNs: clock.nowNs() } });
}

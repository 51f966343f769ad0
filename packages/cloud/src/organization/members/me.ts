import type { api, Input, Me, SignInSession } from "@downlink/protocol";
import { findActor } from "../../calls/audit-log/find-actor.ts";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { callerId } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import { withTransaction } from "../../db/transaction.ts";
import { SESSION_IDLE_NS } from "../../process/credentials/find-session.ts";
import { hashInTurn, provePassword } from "../../process/passwords/prove-password.ts";
import { visibleProjects } from "../projects/find-project.ts";
import { readBackupState } from "./judge-backup-age.ts";
import { setPassword } from "./new-password.ts";

type Contract = typeof api.me;

export const me: Handlers<Contract> = { get: getMe, listSessions, endSession, endSessions, changePassword };

async function getMe(ctx: Ctx): Promise<Complete<Me>> {
  const { caller, db } = ctx;
  const { orgId: id, capabilities } = caller;
  const isLimited = caller.kind === "apiKey" && caller.projectIds.length > 0;
  const [org, projects] = await Promise.all([
    db.prisma.organization.findUniqueOrThrow({ where: { id } }),
    db.prisma.project.findMany({
      where: visibleProjects(ctx),
      orderBy: [{ name: "asc" }, { id: "asc" }],
      select: { id: true, name: true },
    }),
  ]);
  const account = await readAccount(ctx);
  return {
    ...{ id: callerId(caller), orgId: id, orgDisplayName: org.name, orgSlug: org.name },
    ...account,
    ...{ kind: caller.kind, capabilities: [...capabilities], isLimited, projects },
    backups: account.admin ? await readBackups(ctx) : undefined,
  };
}

/** Backups are of the whole control plane: where it has several organizations, they are no matter of one of them. */
async function readBackups(ctx: Ctx) {
  if ((await ctx.db.prisma.organization.count({ take: 2 })) > 1) return undefined;
  const { lastNs: lastAt, isOverdue } = await readBackupState(ctx);
  return { lastAt, isOverdue };
}

/** A key has no e-mail address and no role; it is an admin if it may do everything everywhere. */
async function readAccount({ caller, db }: Ctx) {
  if (caller.kind === "apiKey") {
    const admin = caller.capabilities.includes("*") && caller.projectIds.length === 0;
    return { email: undefined, emailVerified: undefined, admin, role: undefined };
  }
  const { email, identities } = await db.prisma.account.findUniqueOrThrow({
    where: { id: caller.accountId },
    include: { identities: { take: 1 } },
  });
  return { email, emailVerified: identities.length > 0, admin: caller.role === "admin", role: caller.role };
}

async function listSessions(ctx: Ctx): Promise<Complete<SignInSession>[]> {
  const nowNs = ctx.clock.nowNs();
  const isUsed = [{ isOfProgram: true }, { lastUsedAtNs: { gt: nowNs - SESSION_IDLE_NS } }];
  const alive = { expiresAtNs: { gt: nowNs }, OR: isUsed };
  const rows = await ctx.db.prisma.signInSession.findMany({
    where: { ...filterOwnSessions(ctx), ...alive },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
  });
  return rows.map(({ id, address, createdAtNs: createdAt, lastUsedAtNs: lastUsedAt, expiresAtNs: expiresAt }) => {
    return {
      id,
      createdAt,
      lastUsedAt,
      expiresAt,
      address: address ?? undefined,
      isCurrent: id === ctx.caller.sessionId,
    };
  });
}

async function endSession(ctx: Ctx, { id }: Input<Contract["endSession"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.signInSession.deleteMany({ where: { ...filterOwnSessions(ctx), id } });
  return count === 1 ? { id } : throwNotFound(`session ${id}`);
}

async function endSessions(ctx: Ctx): Promise<{ ended: number }> {
  const { count } = await ctx.db.prisma.signInSession.deleteMany({ where: filterOwnSessions(ctx) });
  return { ended: count };
}

/** A member's sessions, or those that were exchanged from the calling key. */
function filterOwnSessions({ caller }: Ctx) {
  return caller.kind === "apiKey" ? { apiKeyId: caller.keyId } : { memberId: caller.memberId };
}

/** A refusal is no 401, which would say that the session has ended. */
async function changePassword(
  ctx: Ctx,
  { password, newPassword }: Input<typeof api.me.changePassword>,
): Promise<{ ended: number }> {
  const { caller, db, clock } = ctx;
  if (caller.kind !== "member" || caller.isOfProgram)
    refuse("WrongCredentialKind", "only a member who signed in with a browser has a password to change");
  if (!ctx.signIns.takesPasswords) refuse("SignInRefused", "passwords are off here: sign in at the provider");
  const { memberId, accountId, sessionId, orgId } = caller;
  const { email } = await db.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
  const tried = { email, address: ctx.address(), accountId };
  const account = await provePassword(ctx, tried, password);
  if (!account) refuse("SignInRefused", "password is not the one that counts until now");
  const passwordHash = await hashInTurn(ctx, tried, newPassword);
  return withTransaction(db, async (tx) => {
    const ended = await setPassword(tx, { accountId, passwordHash, sessionId });
    const change = { operation: "me.changePassword", resourceKind: "member", resourceId: memberId } as const;
    const after = { email, endedSessions: ended };
    await writeEntry(tx, await findActor(tx, ctx), { orgId, nowNs: clock.nowNs(), ...change, after });
    return { ended };
  });
}

import type { api, Input, Me, SignInSession } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { callerId } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import { SESSION_IDLE_NS } from "../../process/credentials/find-session.ts";
import { visibleProjects } from "../projects/find-project.ts";
import { changePassword } from "./change-password.ts";
import { readBackupState } from "./judge-backup-age.ts";

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

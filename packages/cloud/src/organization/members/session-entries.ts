import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { addTries } from "../../process/passwords/failed-tries.ts";

type Call = Pick<Ctx, "clock" | "address" | "requestId">;

/** The owner's organization and name are read with a session. */
export const withOwner = {
  member: { select: { orgId: true, account: { select: { email: true } } } },
  apiKey: { select: { orgId: true, name: true } },
} as const satisfies Prisma.SignInSessionInclude;

type Session = Prisma.SignInSessionGetPayload<{ include: typeof withOwner }>;

/** Writes to the audit log of the owner's organization that a session began or that its owner ended it. */
export async function writeSessionEntry(
  tx: Transaction,
  { clock, address, requestId }: Call,
  { operation, session }: { readonly operation: "session.begin" | "session.end"; readonly session: Session },
): Promise<void> {
  const { id: resourceId, member, apiKey, memberId, apiKeyId, isOfProgram, address: from } = session;
  const who = member
    ? ({ actorKind: "member", actorId: memberId, actorName: member.account.email } as const)
    : ({ actorKind: "apiKey", actorId: apiKeyId, actorName: apiKey?.name ?? null } as const);
  const about = {
    orgId: (member ?? apiKey)!.orgId,
    nowNs: clock.nowNs(),
    resourceKind: "session",
    resourceId,
  } as const;
  const fields = { isOfProgram, address: from };
  const state = operation === "session.begin" ? { after: fields } : { before: fields };
  await writeEntry(tx, { ...who, address: address(), requestId }, { ...about, operation, ...state });
}

/** Ends the session with this token, if there is one, and writes that to the audit log. */
export async function endSession(tx: Transaction, call: Call, token: string): Promise<void> {
  const where = { tokenSha256: hashToken(token) };
  const session = await tx.signInSession.findUnique({ where, include: withOwner });
  const { count } = await tx.signInSession.deleteMany({ where });
  if (session && count === 1) await writeSessionEntry(tx, call, { operation: "session.end", session });
}

const WINDOW_NS = 600_000_000_000n;

interface Failure {
  readonly accountId: string;
  readonly email: string;
}

/** Writes that a wrong password was tried for a member, in each of the member's organizations; once in ten minutes from one address. */
export async function writeFailedSignIn(ctx: Call & Pick<Ctx, "db">, { accountId, email }: Failure): Promise<void> {
  const { db, clock, requestId } = ctx;
  const [nowNs, address] = [clock.nowNs(), ctx.address()];
  const [tries] = await addTries(db, { keys: [`entry ${address} ${accountId}`], nowNs, lifeNs: WINDOW_NS });
  if (tries!.count > 1) return;
  for (const { id: resourceId, orgId } of await db.prisma.member.findMany({ where: { accountId } })) {
    const actor = { actorKind: "service", actorId: null, actorName: null, address, requestId } as const;
    const change = { orgId, nowNs, operation: "session.begin", resourceKind: "member", resourceId } as const;
    await writeEntry(db.prisma, actor, { ...change, after: { email, failed: "the password was wrong" } });
  }
}

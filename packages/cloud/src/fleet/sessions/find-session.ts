import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { SessionModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";

interface SessionRef {
  readonly keyOrId: string;
  readonly projectId?: string | undefined;
}

/** Finds a session by id or key; the id wins. A key that is used in several projects needs `projectId`. A deleted session is not found. */
export async function findSession(ctx: Ctx, { keyOrId, projectId }: SessionRef): Promise<SessionModel> {
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.session.findMany({
    where: { AND: [where, { deletedAtNs: null }, { OR: [{ id: keyOrId }, { key: keyOrId }] }] },
    take: 3,
  });
  const exact = rows.find((row) => row.id === keyOrId);
  if (exact) return exact;
  if (rows.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a session with the key "${keyOrId}"; give projectId`);
  return rows[0] ?? throwNotFound(`session "${keyOrId}"`);
}

interface SessionSelector {
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly projectId?: string | undefined;
}

/** Finds the session that a query selects, by id or else by key; undefined if it selects none; 404 if it does not exist. */
export async function selectSession(ctx: Ctx, selector: SessionSelector): Promise<SessionModel | undefined> {
  if (!selector.sessionId && !selector.sessionKey) return undefined;
  return (
    (await lookUpSession(ctx, selector)) ?? throwNotFound(`session "${selector.sessionId || selector.sessionKey}"`)
  );
}

/** Does what {@link selectSession} does, but returns undefined also if no session has the id or the key. */
export async function lookUpSession(ctx: Ctx, selector: SessionSelector): Promise<SessionModel | undefined> {
  const { sessionId, sessionKey, projectId } = selector;
  if (!sessionId && !sessionKey) return undefined;
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.session.findMany({
    where: { AND: [where, { deletedAtNs: null }, sessionId ? { id: sessionId } : { key: sessionKey! }] },
    take: 2,
  });
  if (rows.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a session with the key "${sessionKey}"; give projectId`);
  return rows[0];
}

type LiveSession = { readonly projectId: string } & ({ readonly id: string } | { readonly key: string });

/**
 * Finds the session of a project by id or key, and keeps it from being changed or deleted until the transaction ends; undefined if there is
 * none, or it is deleted.
 */
export async function holdSession(tx: Transaction, session: LiveSession): Promise<SessionModel | undefined> {
  const where = { ...session, deletedAtNs: null };
  const found = await tx.session.findFirst({ where, select: { id: true } });
  if (!found) return undefined;
  await tx.$queryRaw`SELECT id FROM "Session" WHERE id = ${found.id} FOR SHARE`;
  return (await tx.session.findFirst({ where: { ...where, id: found.id } })) ?? undefined;
}

// A link ends with what its maker may do. While one is made, its maker's rows are locked, so that none is made after that.

import { MAX_FILE_VIEWS, MAX_VIEW_LINKS } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { MemberCaller } from "../../core/callers.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";
import { removeCopy } from "./drop-copies.ts";

interface Maker {
  readonly name: string;
  readonly expiresAtNs: bigint | null;
}

/**
 * Locks the calling key, so that its row and credential stay as they are until the link is committed: a change that takes rights from a key
 * ends its links, and none may be created after that. Links of one key are created one after another, so that they can be counted.
 */
export async function holdMaker(tx: Transaction, { caller }: Ctx): Promise<Maker> {
  if (caller.kind === "member") return holdMember(tx, caller);
  const [maker] = await tx.$queryRaw<Maker[]>`
    SELECT k.name, c."expiresAtNs" FROM "ApiKey" k JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE k.id = ${caller.keyId} AND k.enabled AND k.capabilities && ${["*", "viewLinks.create"]}::text[]
    FOR NO KEY UPDATE OF k FOR KEY SHARE OF c`;
  return maker ?? throwKeyGone();
}

async function holdMember(tx: Transaction, { memberId, accountId }: MemberCaller): Promise<Maker> {
  const held = await tx.$queryRaw<object[]>`SELECT id FROM "Member" WHERE id = ${memberId} FOR NO KEY UPDATE`;
  if (held.length === 0) throwKeyGone();
  const { email: name } = await tx.account.findUniqueOrThrow({ where: { id: accountId } });
  return { name, expiresAtNs: null };
}

/**
 * Checks once more that a member sees the project, and keeps it so until the link is committed: a change that hides a project from members
 * locks its row, and ends the links that it finds.
 */
export async function requireStillSeen(tx: Transaction, { caller }: Ctx, projectId: string): Promise<void> {
  if (caller.kind !== "member") return;
  await tx.$queryRaw`SELECT id FROM "Project" WHERE id = ${projectId} FOR SHARE`;
  const { memberId } = caller;
  const isAdmin = { org: { members: { some: { id: memberId, role: "admin" as const } } } };
  const seen = { OR: [{ isInviteOnly: false }, { members: { some: { memberId } } }, isAdmin] };
  if ((await tx.project.count({ where: { id: projectId, ...seen } })) === 0)
    throwNotFound(`project ${projectId}, which was closed to you at this moment`);
}

export function ownerOf({ caller }: Ctx): { readonly apiKeyId: string } | { readonly memberId: string } {
  return caller.kind === "apiKey" ? { apiKeyId: caller.keyId } : { memberId: caller.memberId };
}

function throwKeyGone(): never {
  throw new ApiError(
    "Unauthenticated",
    "the API key was disabled or deleted, or lost viewLinks.create, at this moment",
  );
}

/**
 * A maker has few links, and fewer files among them, because each of these takes room. A program is refused another file, and of a member,
 * who looks at one after the other, the file that was not read for longest ends.
 */
export async function requireFew(tx: Transaction, ctx: Ctx, { isFile }: { isFile: boolean }): Promise<void> {
  const owner = ownerOf(ctx);
  await tx.viewLink.deleteMany({ where: { ...owner, expiresAtNs: { lte: ctx.clock.nowNs() } } });
  const files = { ...owner, isFile: true, state: { not: "failed" } } as const;
  if (isFile && (await tx.viewLink.count({ where: files })) >= MAX_FILE_VIEWS) {
    if (ctx.caller.kind === "apiKey") throw newTooManyError(ctx, MAX_FILE_VIEWS, "files for viewers");
    await endLeastRead(tx, ctx, files);
  }
  if ((await tx.viewLink.count({ where: owner })) >= MAX_VIEW_LINKS)
    throw newTooManyError(ctx, MAX_VIEW_LINKS, "view links");
}

/** Files that were never read are still awaited, and end last. */
async function endLeastRead(tx: Transaction, ctx: Ctx, where: Prisma.ViewLinkWhereInput): Promise<void> {
  const ended = await tx.viewLink.findFirstOrThrow({
    where,
    orderBy: [{ lastReadAtNs: { sort: "asc", nulls: "last" } }, { createdAtNs: "asc" }],
    omit: { selection: true },
  });
  await tx.viewLink.deleteMany({ where: { id: ended.id } });
  await removeCopy(tx, ctx, ended);
}

function newTooManyError({ caller }: Ctx, most: number, what: string): ApiError {
  const [has, may] = caller.kind === "apiKey" ? ["the API key has", "it may"] : ["you have", "you may"];
  const sentence = `${has} ${most} ${what}, as many as ${may} have at one time; delete one, or wait until one expires`;
  return new ApiError("Conflict", sentence);
}

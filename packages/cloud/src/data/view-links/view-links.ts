import { type api, type Input, MAX_VIEW_LINKS, type Output, type ViewLink } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Agains } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { MemberCaller } from "../../core/callers.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { ViewLinkModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { visibleIn, visibleTo } from "../../organization/projects/find-project.ts";
import { unpackSelection } from "../exports/export-selection.ts";
import { prepareExport } from "../exports/prepare-export.ts";
import { signedView } from "./view-route.ts";

type Contract = typeof api.viewLinks;
type NewViewLink = Complete<Output<Contract["create"]>>;

const SECOND_NS = 1_000_000_000n;

export const viewLinks: Handlers<Contract> = { list: listViewLinks, create: createViewLink, delete: deleteViewLink };
export const viewLinksAgain: Agains<Contract> = { create: linkAgain };

async function listViewLinks(
  ctx: Ctx,
  { limit, offset, projectId }: Input<Contract["list"]>,
): Promise<Complete<ViewLink>[]> {
  const rows = await ctx.db.prisma.viewLink.findMany({
    where: { ...(await visibleIn(ctx, projectId)), ...filterLasting(ctx) },
    omit: { selection: true },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  return rows.map(toViewLink);
}

/** The row holds the selection, so that what the link shows is fixed and ends with the row. */
async function createViewLink(ctx: Ctx, body: Input<Contract["create"]>): Promise<NewViewLink> {
  const { packed, projectId, recordingCount, facts } = await prepareExport(ctx, body);
  const row = await withTransaction(ctx.db, async (tx) => {
    const maker = await holdMaker(tx, ctx);
    await requireStillSeen(tx, ctx, projectId);
    await requireFew(tx, ctx);
    const createdAtNs = ctx.clock.nowNs();
    const endNs = createdAtNs + BigInt(body.lifeSeconds) * SECOND_NS;
    const expiresAtNs = maker.expiresAtNs !== null && maker.expiresAtNs < endNs ? maker.expiresAtNs : endNs;
    const { fileName, unknownTopics } = facts;
    const about = { fileName, recordingCount, unknownTopics, makerName: maker.name };
    const selection = new Uint8Array(packed);
    const of = { orgId: ctx.caller.orgId, projectId, ...ownerOf(ctx) };
    return tx.viewLink.create({ data: { id: newId("view"), ...of, ...about, selection, createdAtNs, expiresAtNs } });
  });
  return toNewViewLink(ctx, row, facts.missing?.recordingIds);
}

/** Answers a repeat with the same `Idempotency-Key` by the same link, as long as it exists. */
async function linkAgain(ctx: Ctx, id: string): Promise<NewViewLink> {
  const row = await ctx.db.prisma.viewLink.findFirst({ where: { ...visibleTo(ctx), ...filterLasting(ctx), id } });
  if (!row) throwNotFound(`view link ${id}, which was ended or has expired`);
  return toNewViewLink(ctx, row);
}

async function deleteViewLink(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.viewLink.deleteMany({
    where: { ...visibleTo(ctx), ...filterLasting(ctx), id },
  });
  return count === 0 ? throwNotFound(`view link ${id}`) : { id };
}

function filterLasting({ clock }: Ctx) {
  return { expiresAtNs: { gt: clock.nowNs() } };
}

interface Maker {
  readonly name: string;
  readonly expiresAtNs: bigint | null;
}

/**
 * Locks the calling key, so that its row and credential stay as they are until the link is committed: a change that takes rights from a key
 * ends its links, and none may be created after that. Links of one key are created one after another, so that they can be counted.
 */
async function holdMaker(tx: Transaction, { caller }: Ctx): Promise<Maker> {
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
async function requireStillSeen(tx: Transaction, { caller }: Ctx, projectId: string): Promise<void> {
  if (caller.kind !== "member") return;
  await tx.$queryRaw`SELECT id FROM "Project" WHERE id = ${projectId} FOR SHARE`;
  const { memberId } = caller;
  const isAdmin = { org: { members: { some: { id: memberId, role: "admin" as const } } } };
  const seen = { OR: [{ isInviteOnly: false }, { members: { some: { memberId } } }, isAdmin] };
  if ((await tx.project.count({ where: { id: projectId, ...seen } })) === 0)
    throwNotFound(`project ${projectId}, which was closed to you at this moment`);
}

function ownerOf({ caller }: Ctx): { readonly apiKeyId: string } | { readonly memberId: string } {
  return caller.kind === "apiKey" ? { apiKeyId: caller.keyId } : { memberId: caller.memberId };
}

function throwKeyGone(): never {
  throw new ApiError(
    "Unauthenticated",
    "the API key was disabled or deleted, or lost viewLinks.create, at this moment",
  );
}

async function requireFew(tx: Transaction, ctx: Ctx): Promise<void> {
  const owner = ownerOf(ctx);
  await tx.viewLink.deleteMany({ where: { ...owner, expiresAtNs: { lte: ctx.clock.nowNs() } } });
  if ((await tx.viewLink.count({ where: owner })) < MAX_VIEW_LINKS) return;
  const sentence = `the API key has ${MAX_VIEW_LINKS} view links, as many as it may have at one time; delete one, or wait until one expires`;
  throw new ApiError("Conflict", sentence);
}

/** A repeat says how many recordings are missing, and not which. */
function toNewViewLink(ctx: Ctx, row: ViewLinkModel, missingIds: readonly string[] = []): NewViewLink {
  const { damage, missing } = unpackSelection(row.selection);
  const unknownTopics = row.unknownTopics.length > 0 ? row.unknownTopics : undefined;
  return {
    ...toViewLink(row),
    damage: damage && toComplete(damage),
    missing: missing && { ...missing, recordingIds: [...missingIds] },
    unknownTopics,
    link: signedView(ctx, row),
  };
}

function toViewLink(row: Omit<ViewLinkModel, "selection">): Complete<ViewLink> {
  const { id, projectId, fileName, recordingCount, createdAtNs, expiresAtNs, memberId, makerName } = row;
  const kind = memberId === null ? "apiKey" : "member";
  const createdBy = { kind, id: (memberId ?? row.apiKeyId)!, name: makerName } as const;
  return { id, projectId, fileName, recordingCount, createdAt: createdAtNs, createdBy, expiresAt: expiresAtNs };
}

import {
  type api,
  fileViewSeconds,
  type Input,
  MAX_VIEW_SECONDS,
  type Viewer,
  type ViewLink,
} from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { quotaReached, quotasOf } from "../../calls/quotas/require-room.ts";
import type { Agains } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import { type NamedViewer, originOf } from "../../core/viewers.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { visibleIn, visibleTo } from "../../organization/projects/find-project.ts";
import { prepareExport } from "../exports/prepare-export.ts";
import { removeCopy } from "./drop-copies.ts";
import { holdMaker, ownerOf, requireFew, requireStillSeen } from "./hold-maker.ts";
import { requireFile } from "./prepare-view.ts";
import { type NewViewLink, toNewViewLink, toViewLink } from "./view-rows.ts";

type Contract = typeof api.viewLinks;

const SECOND_NS = 1_000_000_000n;

export const viewLinks: Handlers<Contract> = {
  listViewers: async ({ viewers }) => viewers.map(toViewer),
  list: listViewLinks,
  get: getViewLink,
  create: createViewLink,
  delete: deleteViewLink,
};
export const viewLinksAgain: Agains<Contract> = { create: linkAgain };

function toViewer(viewer: NamedViewer): Complete<Viewer> {
  return { name: viewer.name, origin: originOf(viewer), as: viewer.as };
}

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

async function getViewLink(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<ViewLink>> {
  const where = { ...visibleTo(ctx), ...filterLasting(ctx), id };
  const row = await ctx.db.prisma.viewLink.findFirst({ where, omit: { selection: true } });
  return row ? toViewLink(row) : throwEnded(id);
}

/** The row holds the selection, so that what the link shows is fixed and ends with the row. */
async function createViewLink(ctx: Ctx, body: Input<Contract["create"]>): Promise<NewViewLink> {
  const made = await prepareExport(ctx, body);
  const isFile = body.as === "file";
  if (isFile) {
    requireFile(made);
    await requireExports(ctx);
  }
  const row = await withTransaction(ctx.db, async (tx) => {
    const lifeSeconds = body.lifeSeconds ?? (isFile ? fileViewSeconds.usual : MAX_VIEW_SECONDS);
    const owned = await takePlace(tx, ctx, { projectId: made.projectId, isFile, lifeSeconds });
    const { fileName, unknownTopics = [] } = made.facts;
    const about = { fileName, recordingCount: made.recordingCount, unknownTopics };
    const data = { id: newId("view"), ...owned, ...about, selection: new Uint8Array(made.packed) };
    if (!isFile) return tx.viewLink.create({ data });
    await ctx.jobs.enqueue(tx, { name: "prepare-view", data: { orgId: owned.orgId, viewId: data.id } });
    return tx.viewLink.create({ data: { ...data, isFile, state: "preparing" } });
  });
  return toNewViewLink(ctx, row, made.facts.missing?.recordingIds);
}

/** A file is made in its turn, however many exports an organization may have at once; but one that may have none gets none. */
async function requireExports(ctx: Ctx): Promise<void> {
  const { maxExports } = await quotasOf(ctx.db, ctx.caller.orgId);
  if (maxExports === 0) throw quotaReached("may have no exports");
}

interface Wanted {
  readonly projectId: string;
  readonly isFile: boolean;
  readonly lifeSeconds: number;
}

/** Holds the maker of the link until it is committed, and returns whose it is and how long it lasts. */
async function takePlace(tx: Transaction, ctx: Ctx, { projectId, isFile, lifeSeconds }: Wanted) {
  const maker = await holdMaker(tx, ctx);
  await requireStillSeen(tx, ctx, projectId);
  await requireFew(tx, ctx, { isFile });
  const createdAtNs = ctx.clock.nowNs();
  const endNs = createdAtNs + BigInt(lifeSeconds) * SECOND_NS;
  const expiresAtNs = maker.expiresAtNs !== null && maker.expiresAtNs < endNs ? maker.expiresAtNs : endNs;
  const { orgId } = ctx.caller;
  return { orgId, projectId, ...ownerOf(ctx), makerName: maker.name, createdAtNs, expiresAtNs };
}

/** Answers a repeat with the same `Idempotency-Key` by the same link, as long as it exists. */
async function linkAgain(ctx: Ctx, id: string): Promise<NewViewLink> {
  const row = await ctx.db.prisma.viewLink.findFirst({ where: { ...visibleTo(ctx), ...filterLasting(ctx), id } });
  return row ? toNewViewLink(ctx, row) : throwEnded(id);
}

async function deleteViewLink(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  await withTransaction(ctx.db, async (tx) => {
    const where = { ...visibleTo(ctx), ...filterLasting(ctx), id };
    const row = await tx.viewLink.findFirst({ where, omit: { selection: true } });
    const { count } = await tx.viewLink.deleteMany({ where });
    if (!row || count === 0) throwNotFound(`view link ${id}`);
    await removeCopy(tx, ctx, row);
  });
  return { id };
}

function throwEnded(id: string): never {
  throwNotFound(`view link ${id}, which was ended or has expired,`);
}

function filterLasting({ clock }: Ctx) {
  return { expiresAtNs: { gt: clock.nowNs() } };
}

import {
  type Answer,
  type api,
  type Input,
  MAX_TRAINING_EPISODES,
  type Output,
  type TrainingSet,
} from "@downlink/protocol";
import { setWriters } from "@downlink/training";
import type { Ctx } from "../../calls/context/context.ts";
import { linkStoredFile } from "../../calls/data-plane/stored-file.ts";
import { closePage, openPage, pageOrder, selectBeyondCursor } from "../../calls/search/cursor-page.ts";
import type { Checks } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, invalid, throwNotFound } from "../../core/errors.ts";
import { makeLink } from "../../core/signed-link.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { TrainingFileModel, TrainingSetModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { visibleProjectIds, visibleTo } from "../../organization/projects/find-project.ts";
import { lockDataset } from "../datasets/find-dataset.ts";
import { findMissing } from "../exports/find-missing.ts";
import { ABOUT_PATH } from "./build-set.ts";
import { findTrainable } from "./find-trainable.ts";
import { Identity } from "./identity.ts";
import { readMapping } from "./mapping-rows.ts";
import { findMapping } from "./mappings.ts";
import { ARCHIVE_PATH, archiveBytes, findArchived } from "./set-archive.ts";
import { toTrainingSet, withCount } from "./training-rows.ts";
import { draft, tryOut } from "./trials.ts";
import { readVersionEpisodes } from "./version-episodes.ts";

type Contract = typeof api.trainingSets;

const HOUR_MS = 3_600_000;
const DAY_NS = 86_400_000_000_000n;
/** Sets of an organization that are being built or wait for it. */
const MAX_BUILDING = 20;

export const trainingSets: Handlers<Contract> = {
  create: createSet,
  list: listSets,
  get: async (ctx, { id }) => toTrainingSet(await findSet(ctx, id), ctx.clock.nowNs(), { withEpisodes: true }),
  draft,
  tryOut,
  listFiles,
  stream: linkArchive,
  delete: deleteSet,
};

async function createSet(ctx: Ctx, input: Input<Contract["create"]>): Promise<Complete<TrainingSet>> {
  const { id: datasetId, versionNumber, mappingId, format, missing, keepDays } = input;
  const { version } = await findTrainable(ctx, { id: datasetId, versionNumber });
  if (version.committedAtNs === null)
    throw new ApiError(
      "Conflict",
      `version ${versionNumber} is not committed; POST /v1/datasets/${datasetId}/commit commits it`,
    );
  const mapping = await findMapping(ctx, { datasetId, mappingId });
  const { needs } = setWriters[format];
  if (!readMapping(mapping)[needs]) invalid("mappingId", `must be a mapping with ${needs}, of which ${format} is made`);
  const made = { format, datasetId, versionNumber, mapping: mapping.text };
  const { identity, episodeCount } = await identify(ctx, { made, leavesOut: missing === "leaveOut" });
  const row = await withTransaction(ctx.db, async (tx) => {
    const { orgId, projectId } = await lockDataset(tx, ctx, datasetId);
    const createdAtNs = ctx.clock.nowNs();
    const same = await findSame(tx, ctx, { datasetId, identity });
    if (same) return keepLonger(tx, same, createdAtNs + BigInt(keepDays) * DAY_NS);
    await requireFewBuilding(tx, orgId);
    const id = newId("ts");
    await ctx.jobs.enqueue(tx, { name: "build-training-set", data: { orgId, setId: id } });
    const of = { orgId, projectId, datasetId, versionNumber, mappingId, format, identity, episodeCount };
    const times = { createdAtNs, expiresAtNs: createdAtNs + BigInt(keepDays) * DAY_NS };
    return tx.trainingSet.create({
      data: { id, ...of, leavesOut: missing === "leaveOut", ...times },
      include: withCount,
    });
  });
  return toTrainingSet(row, ctx.clock.nowNs());
}

interface Identified {
  readonly made: ConstructorParameters<typeof Identity>[0];
  readonly leavesOut: boolean;
}

/** Reads the version's episodes. Throws Incomplete where data of some is not here, unless these are left out. */
async function identify(
  ctx: Ctx,
  { made, leavesOut }: Identified,
): Promise<{ identity: string; episodeCount: number }> {
  const { orgId } = ctx.caller;
  const identity = new Identity(made);
  const missingIds: string[] = [];
  let [whole, incomplete] = [0, 0];
  for await (const episode of readVersionEpisodes(ctx, { orgId, ...made })) {
    if (episode.missingIds.length > 0) incomplete += 1;
    else {
      identity.add(episode);
      whole += 1;
    }
    missingIds.push(...episode.missingIds);
  }
  if (incomplete > 0 && !leavesOut) await throwIncomplete(ctx, { incomplete, missingIds });
  if (whole === 0) throw new ApiError("Conflict", "the version has no episode whose data is here");
  return { identity: identity.digest(), episodeCount: whole };
}

async function throwIncomplete(ctx: Ctx, { incomplete, missingIds }: { incomplete: number; missingIds: string[] }) {
  const where = { orgId: ctx.caller.orgId, id: { in: missingIds.slice(0, MAX_TRAINING_EPISODES) } };
  const missing = await findMissing(ctx, { where, window: { startNs: undefined, endNs: undefined }, besides: [] });
  const sentence = `data of ${incomplete} episodes is not here, the first of recording ${missingIds[0]}; missing leaveOut builds the set without them`;
  throw new ApiError("Incomplete", sentence, { ...(missing && { missing }) });
}

type Found = NonNullable<Awaited<ReturnType<typeof findSame>>>;

/** A set that is there is kept as long as anyone has asked for. */
async function keepLonger(tx: Transaction, { id, ...found }: Found, expiresAtNs: bigint): Promise<Found> {
  if (expiresAtNs <= found.expiresAtNs) return { id, ...found };
  return tx.trainingSet.update({ where: { id }, data: { expiresAtNs }, include: withCount });
}

function findSame(tx: Transaction, ctx: Ctx, { datasetId, identity }: { datasetId: string; identity: string }) {
  return tx.trainingSet.findFirst({
    where: { datasetId, identity, state: { in: ["building", "ready"] }, expiresAtNs: { gt: ctx.clock.nowNs() } },
    orderBy: [{ createdAtNs: "desc" }, { id: "desc" }],
    include: withCount,
  });
}

/** Sets whose objects are gone, as after a restore of the database, have expired. The store is asked while no transaction waits for it. */
export const trainingSetChecks: Checks<Contract> = {
  async create(ctx, { id, versionNumber, mappingId }) {
    const where = { ...visibleTo(ctx), datasetId: id, versionNumber, mappingId, state: "ready" } as const;
    const about = { where: { path: ABOUT_PATH } };
    for (const { id: setId, files } of await ctx.db.prisma.trainingSet.findMany({ where, include: { files: about } })) {
      if (files[0] && (await ctx.blobs.stat(files[0].blobKey))) continue;
      // The set may be deleted meanwhile, so that neither statement requires its row.
      await withTransaction(ctx.db, async (tx) => {
        await tx.trainingFile.deleteMany({ where: { setId } });
        await tx.trainingSet.updateMany({ where: { id: setId }, data: { state: "expired" } });
      });
    }
  },
};

async function requireFewBuilding(tx: Transaction, orgId: string): Promise<void> {
  if ((await tx.trainingSet.count({ where: { orgId, state: "building" } })) >= MAX_BUILDING)
    throw new ApiError(
      "Conflict",
      `the organization has ${MAX_BUILDING} training sets that are not built yet; wait for one, or delete one`,
    );
}

async function listSets(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<Answer<Contract["list"]>>> {
  const page = openPage(ctx, "trainingSets.list", query);
  const place = { sortValue: Prisma.sql`s."createdAtNs"`, type: "bigint", id: Prisma.sql`s.id` } as const;
  const nowNs = ctx.clock.nowNs();
  const where = [
    Prisma.sql`s."projectId" = ANY(${await visibleProjectIds(ctx, query.projectId)})`,
    ...(query.datasetId === undefined ? [] : [Prisma.sql`s."datasetId" = ${query.datasetId}`]),
    ...(query.state === undefined ? [] : [Prisma.sql`${stateAt(nowNs)} = ${query.state}`]),
    ...selectBeyondCursor(page, place),
  ];
  const found = await ctx.db.prisma.$queryRaw<(TrainingSetModel & { fileCount: number })[]>`
    SELECT s.*, (SELECT count(*)::int FROM "TrainingFile" f WHERE f."setId" = s.id) AS "fileCount"
    FROM "TrainingSet" s WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${pageOrder(page, place)} LIMIT ${page.take} OFFSET ${page.offset}`;
  const places = found.map((row) => ({ row, id: row.id, sortValue: String(row.createdAtNs) }));
  const { rows, headers } = closePage(ctx, page, places);
  const sets = rows.map(({ row: { fileCount, ...row } }) =>
    toTrainingSet({ ...row, _count: { files: fileCount } }, nowNs),
  );
  return { output: { trainingSets: sets }, headers };
}

function stateAt(nowNs: bigint): Prisma.Sql {
  return Prisma.sql`CASE WHEN s.state = 'ready' AND s."expiresAtNs" <= ${nowNs} THEN 'expired' ELSE s.state END`;
}

async function findSet(ctx: Ctx, id: string) {
  const where = { AND: [{ id }, visibleTo(ctx)] };
  const dataset = { select: { name: true } } as const;
  const row = await ctx.db.prisma.trainingSet.findFirst({ where, include: { ...withCount, dataset } });
  return row ?? throwNotFound(`training set ${id}`);
}

async function listFiles(
  ctx: Ctx,
  query: Input<Contract["listFiles"]>,
): Promise<Complete<Answer<Contract["listFiles"]>>> {
  const page = openPage(ctx, "trainingSets.listFiles", query);
  const set = requireReady(ctx, await findSet(ctx, query.id));
  const place = { sortValue: Prisma.sql`f.path COLLATE "C"`, type: "text", id: Prisma.sql`f."setId"` } as const;
  const where = [Prisma.sql`f."setId" = ${set.id}`, ...selectBeyondCursor(page, place)];
  const found = await ctx.db.prisma.$queryRaw<TrainingFileModel[]>`
    SELECT f.* FROM "TrainingFile" f WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${pageOrder(page, place)} LIMIT ${page.take} OFFSET ${page.offset}`;
  const places = found.map((row) => ({ row, id: row.setId, sortValue: row.path }));
  const { rows, headers } = closePage(ctx, page, places);
  const files = await Promise.all(rows.map(({ row }) => toFile(ctx, row)));
  return { output: { files }, headers };
}

function requireReady(ctx: Ctx, row: Parameters<typeof toTrainingSet>[0]): Complete<TrainingSet> {
  const set = toTrainingSet(row, ctx.clock.nowNs());
  if (set.state === "ready") return set;
  throw new ApiError("NotFound", `the training set ${set.id} has no files to fetch, because it is ${set.state}`);
}

async function toFile(ctx: Ctx, { setId, path, sizeBytes, sha256, blobKey }: TrainingFileModel) {
  const { link } = await linkStoredFile(ctx, { id: setId, path, blobKey, etag: sha256, siteId: undefined }, HOUR_MS);
  return { path, size: Number(sizeBytes), sha256, link };
}

async function linkArchive(ctx: Ctx, { id }: Input<Contract["stream"]>): Promise<Complete<Output<Contract["stream"]>>> {
  const row = await findSet(ctx, id);
  const { versionNumber, expiresAt } = requireReady(ctx, row);
  const size = archiveBytes(await findArchived(ctx, id));
  const fileName = `${row.dataset.name}-${versionNumber}-${id.slice(-6)}.tar`; // a version has several sets
  const lifeMs = Math.min(HOUR_MS, Number((expiresAt - ctx.clock.nowNs()) / 1_000_000n));
  const path = `${ARCHIVE_PATH}/${id}/${fileName.replace(/[^\w.-]+/g, "_")}`;
  return { ...makeLink(ctx, { method: "GET", path, claims: { setId: id, fileName }, lifeMs }), size };
}

async function deleteSet(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  await withTransaction(ctx.db, async (tx) => {
    // Its job, which may be keeping the files at this moment, comes before or finds no set.
    await tx.$queryRaw`SELECT id FROM "TrainingSet" WHERE id = ${id} AND "orgId" = ${ctx.caller.orgId} FOR UPDATE`;
    const where = { AND: [{ id }, visibleTo(ctx)] };
    const row = await tx.trainingSet.findFirst({ where, include: { files: { select: { blobKey: true } } } });
    if (!row) throwNotFound(`training set ${id}`);
    await tx.trainingSet.delete({ where: { id } });
    await ctx.jobs.enqueueRemovals(
      tx,
      row.files.map(({ blobKey }) => blobKey),
    );
  });
  return { id };
}

import type { Answer, api, Dataset, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { creatorOf } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { withTransaction } from "../../db/transaction.ts";
import { resolveProject, visibleTo } from "../../organization/projects/find-project.ts";
import { toDataset } from "./dataset-rows.ts";
import { findDataset, lockDataset } from "./find-dataset.ts";
import { listDatasets } from "./list-datasets.ts";
import { listVersionEpisodes } from "./list-version-episodes.ts";
import { stageEdit } from "./stage-edit.ts";
import type { EditCounts } from "./staging-state.ts";

type Contract = typeof api.datasets;

export const datasets: Handlers<Contract> = {
  create: createDataset,
  list: listDatasets,
  get: getDataset,
  update: updateDataset,
  delete: deleteDataset,
  listEpisodes,
  changeEpisodes,
};

async function createDataset(ctx: Ctx, body: Input<Contract["create"]>): Promise<Dataset & EditCounts> {
  const { name, description = null, episodeIds } = body;
  const projectId = await resolveProject(ctx, body.projectId);
  const { orgId } = ctx.caller;
  const created = withTransaction(ctx.db, async (tx) => {
    const id = newId("ds");
    const nowNs = ctx.clock.nowNs();
    const stamps = { ...creatorOf(ctx.caller), createdAtNs: nowNs, updatedAtNs: nowNs };
    const row = { id, orgId, projectId, name, description, ...stamps, editableVersion: 1, episodeCount: 0 };
    const versions = { create: { versionNumber: 1, createdAtNs: nowNs, episodeCount: 0 } };
    const dataset = await tx.dataset.create({ data: { ...row, versions } });
    const edited = await stageEdit(tx, { dataset, edit: { add: episodeIds, remove: [] }, nowNs });
    return { ...toDataset(await tx.dataset.findUniqueOrThrow({ where: { id } })), ...edited };
  });
  return created.catch(nameTaken(name));
}

async function getDataset(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<Dataset>> {
  return toDataset(await findDataset(ctx, id));
}

/** Values that are sent and equal change nothing, not even `updatedAt`. */
async function updateDataset(ctx: Ctx, { id, ...changes }: Input<Contract["update"]>): Promise<Complete<Dataset>> {
  const updated = withTransaction(ctx.db, async (tx) => {
    const row = await lockDataset(tx, ctx, id);
    const { name = row.name, description = row.description } = changes;
    if (name === row.name && description === row.description) return row;
    return tx.dataset.update({ where: { id }, data: { name, description, updatedAtNs: ctx.clock.nowNs() } });
  });
  return toDataset(await updated.catch(nameTaken(changes.name ?? "")));
}

/** Deletes a dataset with its versions and memberships; the episodes stay. */
async function deleteDataset(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ success: true }> {
  const { count } = await ctx.db.prisma.dataset.deleteMany({ where: { AND: [{ id }, visibleTo(ctx)] } });
  return count > 0 ? { success: true } : throwNotFound(`dataset ${id}`);
}

/** Lists "the editable version while nothing is committed, else the latest committed membership". spec: wire contract, Datasets */
async function listEpisodes(
  ctx: Ctx,
  query: Input<Contract["listEpisodes"]>,
): Promise<Complete<Answer<Contract["listEpisodes"]>>> {
  const dataset = await findDataset(ctx, query.id);
  const versionNumber = Math.max(1, dataset.editableVersion - 1);
  return listVersionEpisodes(ctx, { list: "datasets.listEpisodes", dataset, query: { ...query, versionNumber } });
}

async function changeEpisodes(ctx: Ctx, { id, ...edit }: Input<Contract["changeEpisodes"]>): Promise<EditCounts> {
  return withTransaction(ctx.db, async (tx) => {
    const dataset = await lockDataset(tx, ctx, id);
    return stageEdit(tx, { dataset, edit, nowNs: ctx.clock.nowNs() });
  });
}

function nameTaken(name: string) {
  return onUniqueViolation(() => refuse("NameTaken", `the project has a dataset named "${name}" already`));
}

import { invalid, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { DatasetModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { NEVER } from "./membership-sql.ts";
import { countStaged, type Staging, stageAdds, stageRemovals, unstageAdds, unstageRemovals } from "./staged-changes.ts";
import { type Edit, type EditCounts, type EditSteps, planEdit, type StagingState } from "./staging-state.ts";

/**
 * Stages adds and removals, all or none, in a dataset whose row the transaction has locked. 400 for an id in both lists, 404 for an episode
 * that is not in the dataset's project.
 */
export async function stageEdit(
  tx: Transaction,
  { dataset, edit, nowNs }: { dataset: DatasetModel; edit: Edit; nowNs: bigint },
): Promise<EditCounts> {
  requireDisjoint(edit);
  const ids = [...new Set([...edit.add, ...edit.remove])];
  if (ids.length === 0) return { added: 0, removed: 0, alreadyPresent: 0 };
  await holdEpisodes(tx, dataset, ids);
  const { steps, counts } = planEdit(await readStates(tx, dataset, ids), edit);
  if (counts.added + counts.removed > 0) await takeSteps(tx, dataset, { steps, nowNs });
  return counts;
}

function requireDisjoint({ add, remove }: Edit): void {
  const added = new Set(add);
  const both = remove.find((id) => added.has(id));
  if (both !== undefined) invalid("remove", `must not name episode ${both}, which is to be added as well`);
}

/** Keeps the episodes from being deleted until the transaction ends. */
async function holdEpisodes(tx: Transaction, { projectId }: DatasetModel, ids: readonly string[]): Promise<void> {
  const held = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Episode" WHERE id = ANY(${[...ids]}) AND "projectId" = ${projectId} ORDER BY id FOR KEY SHARE`;
  const found = new Set(held.map(({ id }) => id));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throwNotFound(`episode ${missing}`);
}

async function readStates(tx: Transaction, { id, editableVersion }: Staging, ids: readonly string[]) {
  const rows = await tx.$queryRaw<{ episodeId: string; state: StagingState }[]>`
    SELECT m."episodeId", CASE WHEN m."removedIn" <> ${NEVER} THEN 'removed'
      WHEN m."addedIn" = ${editableVersion} THEN 'added' ELSE 'member' END AS state
    FROM "DatasetMember" m
    WHERE m."episodeId" = ANY(${[...ids]}) AND m."datasetId" = ${id} AND m."removedIn" IN (${editableVersion}, ${NEVER})`;
  const states = new Map(rows.map(({ episodeId, state }) => [episodeId, state]));
  return (episodeId: string): StagingState => states.get(episodeId) ?? "absent";
}

async function takeSteps(
  tx: Transaction,
  dataset: Staging,
  { steps, nowNs }: { steps: EditSteps; nowNs: bigint },
): Promise<void> {
  const isOneOf = (ids: readonly string[]) => Prisma.sql`m."episodeId" = ANY(${[...ids]})`;
  const episodes = Prisma.sql`
    SELECT id AS "episodeId", "createdAtNs", "startNs", "endNs" FROM "Episode" WHERE id = ANY(${[...steps.stageAdd]})`;
  const stagedAdds = await stageAdds(tx, dataset, { episodes, nowNs });
  const adds = stagedAdds - (await unstageAdds(tx, dataset, isOneOf(steps.unstageAdd)));
  const stagedRemovals = await stageRemovals(tx, dataset, isOneOf(steps.stageRemoval));
  const removals = stagedRemovals - (await unstageRemovals(tx, dataset, isOneOf(steps.unstageRemoval)));
  await countStaged(tx, dataset, { adds, removals, nowNs });
}

import type { api, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { findVersion, lockDataset } from "./find-dataset.ts";
import { membersOnlyIn } from "./membership-sql.ts";
import {
  ALL_MEMBERS_TIMEOUT_MS,
  countStaged,
  type Staging,
  stageAdds,
  stageRemovals,
  unstageAll,
} from "./staged-changes.ts";

type Contract = typeof api.datasetVersions;
type Restored = Output<Contract["restore"]>;

/** Stages only the difference, whatever the version's size. */
export async function restoreVersion(ctx: Ctx, input: Input<Contract["restore"]>): Promise<Restored> {
  const { id, versionNumber, force = false } = input;
  const work = async (tx: Transaction) => {
    const dataset = await lockDataset(tx, ctx, id);
    if (versionNumber >= dataset.editableVersion) throwNotFound(`committed version ${versionNumber} of dataset ${id}`);
    await findVersion(tx, dataset, versionNumber);
    if (!force) await requireUnstaged(tx, dataset);
    const nowNs = ctx.clock.nowNs();
    const discarded = await unstageAll(tx, dataset, nowNs);
    return { ...(await stageDifference(tx, dataset, { versionNumber, nowNs })), ...discarded };
  };
  return withTransaction(ctx.db, work, { timeoutMs: ALL_MEMBERS_TIMEOUT_MS });
}

/** A restore over staged changes must be forced. spec: wire contract, Datasets */
async function requireUnstaged(tx: Transaction, dataset: Staging): Promise<void> {
  const { addedEpisodeCount, removedEpisodeCount } = await findVersion(tx, dataset, dataset.editableVersion);
  if (addedEpisodeCount + removedEpisodeCount > 0)
    refuse("Conflict", "Editable version has staged changes; pass force to overwrite");
}

interface Wanted {
  readonly versionNumber: number;
  readonly nowNs: bigint;
}

async function stageDifference(
  tx: Transaction,
  dataset: Staging,
  { versionNumber, nowNs }: Wanted,
): Promise<{ added: number; removed: number }> {
  const { id, editableVersion } = dataset;
  const current = editableVersion - 1;
  const gone = membersOnlyIn(id, { versionNumber: current, other: versionNumber });
  const back = membersOnlyIn(id, { versionNumber, other: current });
  const removed = await stageRemovals(tx, dataset, gone);
  const episodes = Prisma.sql`
    SELECT m."episodeId", m."createdAtNs", m."startNs", m."endNs" FROM "DatasetMember" m
    WHERE ${back}`;
  const added = await stageAdds(tx, dataset, { episodes, nowNs });
  if (added + removed > 0) await countStaged(tx, dataset, { adds: added, removals: removed, nowNs });
  return { added, removed };
}

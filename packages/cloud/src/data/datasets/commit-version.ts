import type { Answer, api, Input } from "@downlink/protocol";
import { writeEvent } from "../../background/outbox/outbox.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { creatorOf } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import type { DatasetModel, DatasetVersionModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { toVersion } from "./dataset-rows.ts";
import { findVersion, lockDataset } from "./find-dataset.ts";

type Commit = (typeof api.datasetVersions)["commit"];

/** The staged changes carry the editable version's number already, so a commit only ends its being editable. */
export async function commitVersion(ctx: Ctx, { id, message }: Input<Commit>): Promise<Complete<Answer<Commit>>> {
  return withTransaction(ctx.db, async (tx) => {
    const dataset = await lockDataset(tx, ctx, id);
    const editable = await findVersion(tx, dataset, dataset.editableVersion);
    if (editable.addedEpisodeCount + editable.removedEpisodeCount === 0)
      refuse("Conflict", `version ${editable.versionNumber} of dataset ${id} has no changes to commit`);
    const nowNs = ctx.clock.nowNs();
    const { creatorApiKeyId: committedByApiKeyId, creatorOrgMemberId: committedByOrgMemberId } = creatorOf(ctx.caller);
    const committed = await tx.datasetVersion.update({
      where: { datasetId_versionNumber: { datasetId: id, versionNumber: editable.versionNumber } },
      data: { committedAtNs: nowNs, committedByApiKeyId, committedByOrgMemberId, message: message ?? null },
    });
    const editableVersionNumber = await openNext(tx, { dataset, committed, nowNs });
    await publishCommit(tx, { dataset, committed, nowNs });
    return { committed: toVersion(committed), editableVersionNumber };
  });
}

interface Step {
  readonly dataset: DatasetModel;
  readonly committed: DatasetVersionModel;
  readonly nowNs: bigint;
}

async function openNext(tx: Transaction, { dataset, committed, nowNs }: Step): Promise<number> {
  const { datasetId, episodeCount } = committed;
  const versionNumber = committed.versionNumber + 1;
  await tx.datasetVersion.create({ data: { datasetId, versionNumber, createdAtNs: nowNs, episodeCount } });
  const data = { editableVersion: versionNumber, episodeCount, updatedAtNs: nowNs };
  await tx.dataset.update({ where: { id: dataset.id }, data });
  return versionNumber;
}

async function publishCommit(tx: Transaction, { dataset, committed, nowNs }: Step): Promise<void> {
  const { id, orgId, projectId, name } = dataset;
  const { versionNumber, episodeCount, addedEpisodeCount, removedEpisodeCount } = committed;
  const version = { versionNumber, episodeCount, addedEpisodeCount, removedEpisodeCount };
  const payload = { dataset: { id, name }, version };
  await writeEvent(tx, { type: "dataset.committed", orgId, projectId, occurredAtNs: nowNs, payload });
}

import type { Dataset, DatasetVersion } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { DatasetModel, DatasetVersionModel } from "../../db/generated/models.ts";

export function toDataset(row: DatasetModel): Complete<Dataset> {
  return {
    id: row.id,
    projectId: row.projectId,
    name: row.name,
    description: row.description,
    creatorOrgMemberId: row.creatorOrgMemberId,
    creatorApiKeyId: row.creatorApiKeyId,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    episodeCount: row.episodeCount,
  };
}

export function toVersion(row: DatasetVersionModel): Complete<DatasetVersion> {
  return {
    versionNumber: row.versionNumber,
    committedAt: row.committedAtNs ?? undefined,
    committedByOrgMemberId: row.committedByOrgMemberId ?? undefined,
    committedByApiKeyId: row.committedByApiKeyId ?? undefined,
    message: row.message ?? undefined,
    createdAt: row.createdAtNs,
    episodeCount: row.episodeCount,
    addedEpisodeCount: row.addedEpisodeCount,
    removedEpisodeCount: row.removedEpisodeCount,
  };
}

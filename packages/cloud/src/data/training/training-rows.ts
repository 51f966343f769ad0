import { TrainingSet } from "@downlink/protocol";
import { type Complete, toComplete } from "../../core/complete.ts";
import type { TrainingSetModel } from "../../db/generated/models.ts";

export const withCount = { _count: { select: { files: true } } } as const;

type Row = TrainingSetModel & { readonly _count: { readonly files: number } };

interface Shown {
  /** Whether the answer says what became of its episodes. */
  readonly withEpisodes?: boolean;
}

/** A set that is ready is shown as expired as soon as its time is over. */
export function toTrainingSet(row: Row, nowNs: bigint, { withEpisodes = false }: Shown = {}): Complete<TrainingSet> {
  const { id, projectId, datasetId, versionNumber, mappingId, identity, episodesDone, episodeCount } = row;
  const state = row.state === "ready" && row.expiresAtNs <= nowNs ? "expired" : row.state;
  const isReady = state === "ready";
  const sizeBytes = Number(row.sizeBytes);
  return {
    ...{ id, projectId, datasetId, versionNumber, mappingId, identity, state },
    format: TrainingSet.shape.format.parse(row.format),
    progress: { episodesDone, episodeCount, bytes: sizeBytes },
    manifestSha256: row.manifestSha256 ?? undefined,
    fileCount: isReady ? row._count.files : undefined,
    totalBytes: isReady ? sizeBytes : undefined,
    episodes: withEpisodes && row.report ? toComplete(TrainingSet.shape.episodes.parse(row.report)) : undefined,
    failure: row.failureText ?? undefined,
    createdAt: row.createdAtNs,
    expiresAt: row.expiresAtNs,
  };
}

import { ApiError } from "../core/errors.ts";
import type { Transaction } from "../db/transaction.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import type { LockedRecording } from "./lock-recording.ts";

/** The error names so many versions. */
const MOST_NAMED = 10;

interface Version {
  readonly name: string;
  readonly datasetId: string;
  readonly versionNumber: number;
}

/**
 * Throws 409 `Conflict` if another recording has the same content and its stored data is damaged, and 409 `InDataset` if the recording's data is the last copy and a committed dataset version holds it: such a version can never be made
 * again. A recording with an edge copy can be imported again.
 */
export async function requireUnused(tx: Transaction, recording: LockedRecording, nowNs: bigint): Promise<void> {
  if (recording.importStatus === "complete") await requireNoneDamaged(tx, recording);
  if (recording.importStatus !== "complete" || edgeCopyOf(recording, nowNs) !== null) return;
  const versions = await findVersions(tx, recording.id);
  if (versions.length === 0) return;
  const named = versions.slice(0, MOST_NAMED).map(({ name, versionNumber }) => `"${name}" version ${versionNumber}`);
  const others = versions.length > MOST_NAMED ? " and others" : "";
  throw new ApiError(
    "InDataset",
    `the data of recording ${recording.id} is the last copy, and committed dataset versions hold it: ${named.join(", ")}${others}; force=true deletes it all the same`,
  );
}

/** The other recording can be repaired of this one, as long as this one is there. The caller may see only one of both. */
async function requireNoneDamaged(tx: Transaction, { id, orgId, contentSha256 }: LockedRecording): Promise<void> {
  const where = { orgId, contentSha256: contentSha256 ?? "", storedDamage: { not: null }, id: { not: id } };
  if ((await tx.recording.count({ where, take: 1 })) > 0)
    throw new ApiError(
      "Conflict",
      `the stored data of another recording with the content of ${id} is damaged: this copy is whole; force=true deletes it all the same`,
    );
}

async function findVersions(tx: Transaction, recordingId: string): Promise<Version[]> {
  return await tx.$queryRaw<Version[]>`
    SELECT DISTINCT d.name, d.id AS "datasetId", v."versionNumber"
    FROM "EpisodeRecording" e JOIN "DatasetMember" m ON m."episodeId" = e."episodeId"
      JOIN "DatasetVersion" v ON v."datasetId" = m."datasetId" AND v."committedAtNs" IS NOT NULL
        AND v."versionNumber" >= m."addedIn" AND v."versionNumber" < m."removedIn"
      JOIN "Dataset" d ON d.id = v."datasetId"
    WHERE e."recordingId" = ${recordingId}
    ORDER BY d.name, d.id, v."versionNumber" LIMIT ${MOST_NAMED + 1}`;
}

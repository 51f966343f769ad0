import type { EdgeFileModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

export type FileVersion = Pick<EdgeFileModel, "id" | "versionId" | "recordingId">;

interface Wanted {
  readonly agentId: string;
  readonly versionIds: readonly string[];
}

/**
 * Finds those of the versions that the cloud knows. LATERAL and LIMIT make the planner look up each one by itself: without statistics of a
 * new agent it would read all of the agent's files, and they come a minute too late when a device reports its first 100,000 files.
 */
export function findVersions(tx: Transaction, { agentId, versionIds }: Wanted): Promise<FileVersion[]> {
  return tx.$queryRaw<FileVersion[]>`
    SELECT f.id, f."versionId", f."recordingId" FROM unnest(${versionIds}::text[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT id, "versionId", "recordingId" FROM "EdgeFile" WHERE "agentId" = ${agentId} AND "versionId" = wanted.id LIMIT 1
    ) f`;
}

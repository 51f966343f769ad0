import type { EdgeFileModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";

export type FileVersion = Pick<EdgeFileModel, "id" | "versionId" | "recordingId">;

interface Wanted {
  readonly agentId: string;
  readonly versionIds: readonly string[];
}

/** The versions that the cloud knows. LATERAL and LIMIT look each up: a planner that is new to the agent would rather read all its files. */
export function findVersions(tx: Transaction, { agentId, versionIds }: Wanted): Promise<FileVersion[]> {
  return tx.$queryRaw<FileVersion[]>`
    SELECT f.id, f."versionId", f."recordingId" FROM unnest(${versionIds}::text[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT id, "versionId", "recordingId" FROM "EdgeFile" WHERE "agentId" = ${agentId} AND "versionId" = wanted.id LIMIT 1
    ) f`;
}

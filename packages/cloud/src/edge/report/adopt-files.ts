import type { EdgeItem } from "@downlink/protocol";
import { toJson } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { FileVersion } from "../../fleet/agents/find-versions.ts";
import type { Batch, KnownVersions } from "./batch.ts";
import { fileColumns } from "./edge-rows.ts";

/**
 * An agent that lost its state gives its files new version ids. If a row of the same agent agrees with a file in path, size, time and the
 * hashes of head and tail, it is that file: it takes the new version id, and so does a request that waits for it.
 */
export async function adoptFiles(tx: Transaction, batch: Batch, known: KnownVersions): Promise<FileVersion[]> {
  const unknown = batch.items.filter(({ versionId }) => !known.has(versionId));
  if (unknown.length === 0) return [];
  const adoptions = await findAdoptions(tx, batch, unknown);
  if (adoptions.length > 0) await adopt(tx, adoptions);
  return adoptions;
}

function findAdoptions(tx: Transaction, { agent, items }: Batch, unknown: EdgeItem[]): Promise<FileVersion[]> {
  const here = items.map(({ versionId }) => versionId);
  // Each item is looked up by itself, as in find-versions.ts. An item takes one row, and one item takes a row.
  return tx.$queryRaw<FileVersion[]>`
    SELECT DISTINCT ON (f.id) f.id, i."versionId", f."recordingId"
    FROM json_populate_recordset(NULL::"EdgeFile", ${toJson(unknown.map(fileColumns))}::json) i
    CROSS JOIN LATERAL (
      SELECT id, "recordingId" FROM "EdgeFile"
      WHERE "agentId" = ${agent.id} AND hashtextextended(path, 0) = hashtextextended(i.path, 0) AND path = i.path
        AND "sizeBytes" = i."sizeBytes" AND "modifiedAtNs" = i."modifiedAtNs" AND "headTailSha256" = i."headTailSha256"
        AND "versionId" <> ALL(${here})
      LIMIT 1
    ) f
    ORDER BY f.id, i."versionId"`;
}

/** Locks the recordings first, as every change of their requests does. */
async function adopt(tx: Transaction, adoptions: readonly FileVersion[]): Promise<void> {
  const ids = adoptions.flatMap(({ recordingId }) => recordingId ?? []);
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  await tx.$executeRaw`
    UPDATE "SalvageRequest" s SET "versionId" = a."versionId"
    FROM json_populate_recordset(NULL::"EdgeFile", ${toJson(adoptions)}::json) a JOIN "EdgeFile" f ON f.id = a.id
    WHERE s."agentId" = f."agentId" AND s."versionId" = f."versionId"`;
  await tx.$executeRaw`
    UPDATE "Cut" c SET "versionId" = a."versionId"
    FROM json_populate_recordset(NULL::"EdgeFile", ${toJson(adoptions)}::json) a JOIN "EdgeFile" f ON f.id = a.id
    WHERE c."agentId" = f."agentId" AND c."versionId" = f."versionId"`;
  await tx.$executeRaw`
    WITH adopted AS (
      UPDATE "EdgeFile" f SET "versionId" = a."versionId"
      FROM json_populate_recordset(NULL::"EdgeFile", ${toJson(adoptions)}::json) a WHERE f.id = a.id
      RETURNING f."recordingId", f."versionId"
    )
    UPDATE "ImportRequest" r SET "versionId" = a."versionId" FROM adopted a
    WHERE r."recordingId" = a."recordingId" AND r."isAcknowledged" = false`;
}

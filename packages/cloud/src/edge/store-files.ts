import type { EdgeItem, EdgeRecordingItem } from "@downlink/protocol";
import type { AgentModel, EdgeFileModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { storeEdgeRecordings } from "./store-edge-recordings.ts";

export interface Batch {
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
  readonly listingId: string | undefined;
  readonly nowNs: bigint;
}

/** Inserts or updates one row a file version, and the recordings of those that became importable. */
export async function storeFiles(tx: Transaction, batch: Batch): Promise<void> {
  if (batch.items.length === 0) return;
  await adoptFiles(tx, batch);
  await upsertFiles(tx, batch);
  await followPaths(tx, batch);
  const files = await tx.edgeFile.findMany({
    where: { agentId: batch.agent.id, versionId: { in: versionIdsOf(batch) } },
  });
  const fresh = filesWithoutRecording(files, batch.items);
  await storeEdgeRecordings(tx, { ...batch, fresh });
}

/**
 * An agent that lost its state names its files anew. A row of the same agent whose path, size, time and hash of head and tail
 * all agree is that file: it takes the new version id, and so does an import request that waits for it.
 */
async function adoptFiles(tx: Transaction, { agent, items }: Batch): Promise<void> {
  const facts = JSON.stringify(items.map(factsOf));
  await tx.$executeRaw`
    WITH item AS (
      SELECT * FROM jsonb_to_recordset(${facts}::jsonb)
        AS t("versionId" text, path text, "sizeBytes" bigint, "modifiedAtNs" bigint, "headTailSha256" text)
    ), adopted AS (
      UPDATE "EdgeFile" f SET "versionId" = i."versionId" FROM item i
      WHERE f."agentId" = ${agent.id} AND f.path = i.path AND f."sizeBytes" = i."sizeBytes"
        AND f."modifiedAtNs" = i."modifiedAtNs" AND f."headTailSha256" = i."headTailSha256" AND f."versionId" <> i."versionId"
        AND NOT EXISTS (SELECT 1 FROM "EdgeFile" e WHERE e."agentId" = ${agent.id} AND e."versionId" = i."versionId")
        AND NOT EXISTS (SELECT 1 FROM item j WHERE j."versionId" = f."versionId")
      RETURNING f."recordingId", f."versionId"
    )
    UPDATE "ImportRequest" r SET "versionId" = a."versionId" FROM adopted a
    WHERE r."recordingId" = a."recordingId" AND r."isAcknowledged" = false`;
}

async function upsertFiles(tx: Transaction, { agent, items, listingId, nowNs }: Batch): Promise<void> {
  const rows = JSON.stringify(items.map((item) => ({ id: newId("ef"), ...factsOf(item), ...stateOf(item) })));
  await tx.$executeRaw`
    INSERT INTO "EdgeFile" (id, "orgId", "projectId", "agentId", "deviceId", "versionId", path, "sizeBytes", "modifiedAtNs",
      "headTailSha256", state, "reasonCode", "reasonText", "salvageStartNs", "salvageEndNs", "listingId", "reportedAtNs")
    SELECT id, ${agent.orgId}, ${agent.projectId}, ${agent.id}, ${agent.deviceId}, "versionId", path, "sizeBytes", "modifiedAtNs",
      "headTailSha256", state, "reasonCode", "reasonText", "salvageStartNs", "salvageEndNs", ${listingId ?? null}, ${nowNs}
    FROM jsonb_to_recordset(${rows}::jsonb) AS t(id text, "versionId" text, path text, "sizeBytes" bigint, "modifiedAtNs" bigint,
      "headTailSha256" text, state text, "reasonCode" text, "reasonText" text, "salvageStartNs" bigint, "salvageEndNs" bigint)
    ON CONFLICT ("agentId", "versionId") DO UPDATE SET
      path = excluded.path, "sizeBytes" = excluded."sizeBytes", "modifiedAtNs" = excluded."modifiedAtNs",
      "headTailSha256" = excluded."headTailSha256", state = excluded.state, "reasonCode" = excluded."reasonCode",
      "reasonText" = excluded."reasonText", "salvageStartNs" = excluded."salvageStartNs", "salvageEndNs" = excluded."salvageEndNs",
      "listingId" = coalesce(excluded."listingId", "EdgeFile"."listingId"), "reportedAtNs" = excluded."reportedAtNs"`;
}

/** A renamed file is the same version: its recording shows the new path. */
async function followPaths(tx: Transaction, batch: Batch): Promise<void> {
  await tx.$executeRaw`
    UPDATE "Recording" r SET path = f.path FROM "EdgeFile" f
    WHERE f."agentId" = ${batch.agent.id} AND f."versionId" = ANY(${versionIdsOf(batch)})
      AND r.id = f."recordingId" AND r.path <> f.path`;
}

export interface FreshFile {
  readonly file: EdgeFileModel;
  readonly item: EdgeRecordingItem;
}

function filesWithoutRecording(files: readonly EdgeFileModel[], items: readonly EdgeItem[]): FreshFile[] {
  const byVersion = new Map(items.map((item) => [item.versionId, item]));
  return files.flatMap((file) => {
    const item = byVersion.get(file.versionId);
    return item?.state === "indexed" && file.recordingId === null ? [{ file, item }] : [];
  });
}

function versionIdsOf({ items }: Batch): string[] {
  return items.map((item) => item.versionId);
}

function factsOf(item: EdgeItem) {
  return {
    versionId: item.versionId,
    path: item.path,
    sizeBytes: item.size,
    modifiedAtNs: item.modifiedAt.toString(),
    headTailSha256: item.headTailSha256,
  };
}

function stateOf(item: EdgeItem) {
  if (item.state === "indexed") return { state: item.state };
  return {
    state: item.state,
    reasonCode: item.reason?.code,
    reasonText: item.reason?.text,
    salvageStartNs: item.salvage?.start.toString(),
    salvageEndNs: item.salvage?.end.toString(),
  };
}

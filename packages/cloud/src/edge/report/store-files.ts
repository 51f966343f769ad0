import { newId } from "../../db/ids.ts";
import { insertRows, toJson } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findVersions } from "../../fleet/agents/find-versions.ts";
import { adoptFiles } from "./adopt-files.ts";
import type { Batch } from "./batch.ts";
import { fileColumns } from "./edge-rows.ts";
import type { Place } from "./find-place.ts";
import { findRestored } from "./find-restored.ts";
import { storeEdgeRecordings } from "./store-edge-recordings.ts";

/**
 * Inserts or updates one row for each file version, and stores the recordings of files that became importable. Rows that would not change
 * are not written.
 */
export async function storeFiles(tx: Transaction, batch: Batch): Promise<void> {
  if (batch.items.length === 0) return;
  const known = await findKnown(tx, batch);
  for (const { versionId, recordingId } of await adoptFiles(tx, batch, known)) known.set(versionId, recordingId);
  const restored = await findRestored(tx, batch, known);
  const made = await storeEdgeRecordings(tx, batch, new Map([...known, ...restored]));
  const rows = batch.items.map((item) => ({
    ...fileColumns(item),
    ...ownerColumns(batch.places.get(item.versionId)),
    recordingId: [known, restored, made].flatMap((ids) => ids.get(item.versionId) ?? [])[0] ?? null,
  }));
  const isKnown = ({ versionId }: FileRow) => known.has(versionId);
  const fresh = rows.filter((row) => !isKnown(row));
  await insertFiles(tx, batch, fresh);
  await updateFiles(tx, batch, rows.filter(isKnown));
}

async function findKnown(tx: Transaction, { agent, items }: Batch): Promise<Map<string, string | null>> {
  const known = await findVersions(tx, { agentId: agent.id, versionIds: items.map(({ versionId }) => versionId) });
  return new Map(known.map(({ versionId, recordingId }) => [versionId, recordingId]));
}

type FileRow = ReturnType<typeof fileColumns> &
  ReturnType<typeof ownerColumns> & { readonly recordingId: string | null };

function ownerColumns(place: Place | undefined) {
  return { projectId: place?.projectId ?? null, deviceId: place?.device.id ?? null };
}

async function insertFiles(tx: Transaction, batch: Batch, rows: readonly FileRow[]): Promise<void> {
  const { id: agentId, orgId } = batch.agent;
  const shared = { agentId, orgId, listingId: batch.listingId };
  const times = { reportedAtNs: batch.nowNs, firstReportedAtNs: batch.nowNs };
  await insertRows(
    tx,
    "EdgeFile",
    rows.map((row) => ({ ...row, ...shared, ...times, id: newId("ef") })),
  );
}

async function updateFiles(
  tx: Transaction,
  { agent, nowNs, ...batch }: Batch,
  rows: readonly FileRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const listingId = batch.listingId ?? null;
  const changed = await tx.$queryRaw<{ recordingId: string | null }[]>`
    UPDATE "EdgeFile" f SET path = i.path, "sizeBytes" = i."sizeBytes", "modifiedAtNs" = i."modifiedAtNs",
      "headTailSha256" = i."headTailSha256", state = i.state, "reasonCode" = i."reasonCode", "reasonText" = i."reasonText",
      "salvageStartNs" = i."salvageStartNs", "salvageEndNs" = i."salvageEndNs", "recordingId" = i."recordingId",
      "projectId" = i."projectId", "deviceId" = i."deviceId",
      "listingId" = coalesce(${listingId}, f."listingId"), "reportedAtNs" = ${nowNs}
    FROM json_populate_recordset(NULL::"EdgeFile", ${toJson(rows)}::json) i
    WHERE f."agentId" = ${agent.id} AND f."versionId" = i."versionId"
      AND (f.path, f."sizeBytes", f."modifiedAtNs", f."headTailSha256", f.state, f."reasonCode", f."reasonText",
        f."salvageStartNs", f."salvageEndNs", f."recordingId", f."projectId", f."deviceId", f."listingId") IS DISTINCT FROM (i.path, i."sizeBytes",
        i."modifiedAtNs", i."headTailSha256", i.state, i."reasonCode", i."reasonText", i."salvageStartNs", i."salvageEndNs",
        i."recordingId", i."projectId", i."deviceId", coalesce(${listingId}, f."listingId"))
    RETURNING f."recordingId"`;
  await followPaths(
    tx,
    changed.flatMap(({ recordingId }) => recordingId ?? []),
  );
}

/**
 * A renamed file is the same version: its recording shows the new path. At a site the new path may belong to another device, which then
 * owns the recording, unless its import was requested already. Locks in the order in which every transaction locks several recordings.
 */
async function followPaths(tx: Transaction, recordingIds: readonly string[]): Promise<void> {
  if (recordingIds.length === 0) return;
  const moved = await tx.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM "Recording" r JOIN "EdgeFile" f ON f."recordingId" = r.id
    WHERE r.id = ANY(${recordingIds}) AND (r.path <> f.path OR r."deviceId" <> f."deviceId") ORDER BY r.id FOR UPDATE OF r`;
  if (moved.length === 0) return;
  const ids = moved.map(({ id }) => id);
  await tx.$executeRaw`
    UPDATE "Recording" r SET path = f.path FROM "EdgeFile" f WHERE f."recordingId" = r.id AND r.id = ANY(${ids})`;
  await tx.$executeRaw`
    UPDATE "Recording" r SET "deviceId" = f."deviceId", "projectId" = f."projectId"
    FROM "EdgeFile" f WHERE f."recordingId" = r.id AND r.id = ANY(${ids}) AND r."deviceId" <> f."deviceId"
      AND r."importStatus" = 'none' AND r."sessionId" IS NULL`;
}

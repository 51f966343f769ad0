// After a restore, recordings are made from the manifests of their uploads before agents have listed their files again. An agent that then
// reports the version of such an upload reports this recording. If the recording has no data, nothing else is known about it, so that it
// takes its details from the report.

import type { EdgeItem, EdgeRecordingItem } from "@downlink/protocol";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { Batch, KnownVersions } from "./batch.ts";
import { attachmentRows, recordingColumns, spanRows } from "./edge-rows.ts";
import { storeTopics } from "./store-topics.ts";

/** Returns the recordings of versions that no row of a file has, by version. */
export async function findRestored(
  tx: Transaction,
  batch: Batch,
  known: KnownVersions,
): Promise<ReadonlyMap<string, string>> {
  const unknown = batch.items.filter(({ versionId }) => !known.has(versionId));
  if (unknown.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ versionId: string; recordingId: string; hasData: boolean }[]>`
    SELECT DISTINCT ON (r.id) q."versionId", r.id AS "recordingId", r."blobKey" IS NOT NULL AS "hasData"
    FROM "ImportRequest" q JOIN "Recording" r ON r.id = q."recordingId"
    WHERE q."isAdopted" AND q."versionId" = ANY(${unknown.map(({ versionId }) => versionId)}) AND q."orgId" = ${batch.agent.orgId}
      AND NOT EXISTS (SELECT 1 FROM "EdgeFile" f WHERE f."recordingId" = r.id)`;
  const withoutData = new Map(rows.flatMap((row) => (row.hasData ? [] : [[row.versionId, row.recordingId] as const])));
  for (const item of unknown.filter(isIndexed)) {
    const id = withoutData.get(item.versionId);
    if (id !== undefined) await describe(tx, batch, { id, item });
  }
  await tx.importRequest.updateMany({
    where: { recordingId: { in: rows.map(({ recordingId }) => recordingId) }, state: "awaiting" },
    data: { agentId: batch.agent.id },
  });
  return new Map(rows.map(({ versionId, recordingId }) => [versionId, recordingId]));
}

function isIndexed(item: EdgeItem): item is EdgeRecordingItem {
  return item.state === "indexed";
}

interface Described {
  readonly id: string;
  readonly item: EdgeRecordingItem;
}

async function describe(tx: Transaction, { places }: Batch, { id, item }: Described): Promise<void> {
  const { key: _, ...columns } = recordingColumns(item);
  const data = { ...columns, metadata: JSON.parse(JSON.stringify(item.metadata)) };
  await tx.recording.update({ where: { id }, data });
  await tx.recordingTopic.deleteMany({ where: { recordingId: id } });
  await tx.recordingAttachment.deleteMany({ where: { recordingId: id } });
  await tx.recordingSpan.deleteMany({ where: { recordingId: id } });
  await insertRows(tx, "RecordingSpan", spanRows(id, item));
  await storeTopics(tx, [{ id, item, place: places.get(item.versionId)! }]);
  await insertRows(tx, "RecordingAttachment", attachmentRows(id, item));
}

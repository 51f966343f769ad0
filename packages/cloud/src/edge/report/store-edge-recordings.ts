import type { EdgeItem, EdgeRecordingItem } from "@downlink/protocol";
import { writeEvents } from "../../background/outbox/outbox.ts";
import { newId } from "../../db/ids.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import { recordingEvent } from "../../import-life/recording-events.ts";
import type { Batch, KnownVersions } from "./batch.ts";
import { attachmentRows, recordingColumns, spanRows } from "./edge-rows.ts";
import { type NamedItem, storeTopics } from "./store-topics.ts";

/**
 * Stores one recording in state `none` for each file that became importable, with its topics and attachments. Returns their ids by version.
 */
export async function storeEdgeRecordings(
  tx: Transaction,
  batch: Batch,
  known: KnownVersions,
): Promise<Map<string, string>> {
  const importable = batch.items.filter(isIndexed).filter(({ versionId }) => !known.get(versionId));
  if (importable.length === 0) return new Map();
  const named = importable.map((item) => ({ item, id: newId("rec"), place: batch.places.get(item.versionId)! }));
  await insertRecordings(tx, batch, named);
  await storeTopics(tx, named);
  await insertRows(
    tx,
    "RecordingSpan",
    named.flatMap(({ id, item }) => spanRows(id, item)),
  );
  await insertRows(
    tx,
    "RecordingAttachment",
    named.flatMap(({ id, item }) => attachmentRows(id, item)),
  );
  await publishCreated(tx, batch, named);
  return new Map(named.map(({ item, id }) => [item.versionId, id]));
}

function isIndexed(item: EdgeItem): item is EdgeRecordingItem {
  return item.state === "indexed";
}

async function insertRecordings(tx: Transaction, { agent, nowNs }: Batch, named: readonly NamedItem[]): Promise<void> {
  const { orgId, siteId: edgeSiteId } = agent;
  const shared = { orgId, edgeSiteId, createdAtNs: nowNs, importStatus: "none", isEdge: true } as const;
  await insertRows(
    tx,
    "Recording",
    named.map(({ item, id, place: { projectId, device } }) => {
      return { ...recordingColumns(item), ...shared, id, projectId, deviceId: device.id };
    }),
  );
}

/** A device's recording has no edge site, and no recording has a site before it is imported. */
async function publishCreated(tx: Transaction, { agent, nowNs }: Batch, named: readonly NamedItem[]): Promise<void> {
  const { orgId, siteId } = agent;
  const edgeSite = siteId && (await tx.site.findUnique({ where: { id: siteId }, select: { id: true, name: true } }));
  const shared = { orgId, sessionId: null, importStatus: "none", edgeSite: edgeSite || null, site: null } as const;
  const events = named.map(({ item: { key = null, path }, id, place }) =>
    recordingEvent({ ...shared, ...place, id, key, path }, { type: "recording.created", occurredAtNs: nowNs }),
  );
  await writeEvents(tx, events);
}

import type { EdgeRecordingItem } from "@downlink/protocol";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { writeEvents } from "../outbox/outbox.ts";
import type { Batch, FreshFile } from "./store-files.ts";

interface NewRecordings extends Omit<Batch, "items" | "listingId"> {
  readonly fresh: readonly FreshFile[];
}

/** One recording in state `none` for each file that became importable, with its topics and attachments. */
export async function storeEdgeRecordings(tx: Transaction, { agent, fresh, nowNs }: NewRecordings): Promise<void> {
  if (fresh.length === 0) return;
  const named = fresh.map(({ file, item }) => ({ file, item, recordingId: newId("rec") }));
  const owner = { orgId: agent.orgId, projectId: agent.projectId, deviceId: agent.deviceId };
  await tx.recording.createMany({
    data: named.map(({ item, recordingId }) => ({
      id: recordingId,
      ...owner,
      ...recordingFacts(item),
      createdAtNs: nowNs,
      importStatus: "none",
      isEdge: true,
    })),
  });
  const links = JSON.stringify(named.map(({ file, recordingId }) => ({ id: file.id, recordingId })));
  await tx.$executeRaw`
    UPDATE "EdgeFile" f SET "recordingId" = l."recordingId"
    FROM jsonb_to_recordset(${links}::jsonb) AS l(id text, "recordingId" text) WHERE f.id = l.id`;
  await tx.recordingTopic.createMany({ data: named.flatMap(topicRows) });
  await tx.recordingAttachment.createMany({ data: named.flatMap(attachmentRows) });
  await writeEvents(
    tx,
    named.map(({ item, recordingId }) => ({
      type: "recording.created" as const,
      orgId: agent.orgId,
      projectId: agent.projectId,
      occurredAtNs: nowNs,
      payload: {
        recording: {
          id: recordingId,
          key: item.key,
          importStatus: "none",
          path: item.path,
          device: { id: agent.deviceId },
        },
      },
    })),
  );
}

interface NamedItem {
  readonly item: EdgeRecordingItem;
  readonly recordingId: string;
}

function recordingFacts(item: EdgeRecordingItem) {
  return {
    path: item.path,
    sizeBytes: BigInt(item.size),
    startNs: item.start,
    endNs: item.end,
    durationNs: item.end - item.start,
    key: item.key,
    format: item.format,
    messageCount: BigInt(item.messageCount),
    metadata: item.metadata,
  };
}

function topicRows({ item, recordingId }: NamedItem) {
  return item.topics.map((topic) => ({
    recordingId,
    topic: topic.topic,
    version: topic.version,
    messageEncoding: topic.encoding,
    schemaName: topic.schemaName,
    schemaEncoding: topic.schemaEncoding,
    schemaSha256: topic.schemaSha256,
    messageCount: BigInt(topic.messageCount),
    startNs: topic.start,
    endNs: topic.end,
  }));
}

function attachmentRows({ item, recordingId }: NamedItem) {
  return item.attachments.map((attachment) => ({
    id: newId("att"),
    recordingId,
    name: attachment.name,
    mediaType: attachment.mediaType,
    logTimeNs: attachment.logTime,
    createTimeNs: attachment.createTime,
    crc: BigInt(attachment.crc),
    dataOffset: BigInt(attachment.dataOffset),
    sizeBytes: BigInt(attachment.size),
  }));
}

import type { AttachmentSummary, RecordingSummary, TopicSummary } from "@downlink/recordings";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";

export function recordingFacts(summary: RecordingSummary & { startNs: bigint; endNs: bigint }) {
  return {
    sizeBytes: BigInt(summary.sizeBytes),
    startNs: summary.startNs,
    endNs: summary.endNs,
    durationNs: summary.endNs - summary.startNs,
    format: summary.format,
    messageCount: BigInt(summary.messageCount),
    metadata: summary.metadata as { name: string; metadata: Record<string, string> }[],
  };
}

export function topicRows(recordingId: string, topics: readonly TopicSummary[]) {
  return topics.map((topic) => ({
    recordingId,
    topic: topic.topic,
    version: topic.version,
    messageEncoding: topic.messageEncoding,
    schemaName: topic.schemaName,
    schemaEncoding: topic.schemaEncoding,
    schemaSha256: topic.schemaSha256,
    messageCount: BigInt(topic.messageCount),
    startNs: topic.startNs,
    endNs: topic.endNs,
  }));
}

export function attachmentRows(recordingId: string, attachments: readonly AttachmentSummary[]) {
  return attachments.map((attachment) => ({
    id: newId("att"),
    recordingId,
    name: attachment.name,
    mediaType: attachment.mediaType,
    logTimeNs: attachment.logTimeNs,
    createTimeNs: attachment.createTimeNs,
    crc: BigInt(attachment.crc),
    dataOffset: BigInt(attachment.dataOffset),
    sizeBytes: BigInt(attachment.sizeBytes),
  }));
}

/** Schema texts are kept by content, once per organization. */
export async function storeSchemaTexts(tx: Transaction, orgId: string, topics: readonly TopicSummary[]): Promise<void> {
  const rows = topics.map(({ schemaSha256, schema }) => ({ orgId, sha256: schemaSha256, data: Buffer.from(schema) }));
  await tx.schemaText.createMany({ data: rows, skipDuplicates: true });
}

import { DataDamage, SALVAGE_RECORD_NAME } from "@downlink/protocol";
import type { AttachmentSummary, RecordingSummary, TopicSummary } from "@downlink/recordings";
import { newId } from "../../db/ids.ts";

export function recordingFacts(summary: RecordingSummary & { startNs: bigint; endNs: bigint }) {
  return {
    sizeBytes: BigInt(summary.sizeBytes),
    startNs: summary.startNs,
    endNs: summary.endNs,
    durationNs: summary.endNs - summary.startNs,
    format: summary.format,
    messageCount: BigInt(summary.messageCount),
    metadata: [], // storeContents stores it
  };
}

/** Returns the damage in the form of the recording's column. A salvage is whole itself, and has the damage of the file that it is made of. */
export function damageOf({ damage, metadata }: RecordingSummary): string | null {
  const known = damage ?? salvagedDamage(metadata.findLast(({ name }) => name === SALVAGE_RECORD_NAME)?.metadata);
  return known ? JSON.stringify(known) : null;
}

/** A salvage of an earlier version says only how many bytes were lost, and why. Anybody may write such a record, so that it proves nothing. */
function salvagedDamage(record: Readonly<Record<string, string>> | undefined): DataDamage | undefined {
  if (!record) return undefined;
  const stated = DataDamage.safeParse(parseJson(record.damage));
  if (stated.success) return stated.data;
  const bytesLost = Number(record.lostBytes);
  if (!Number.isSafeInteger(bytesLost) || bytesLost <= 0) return undefined;
  const reasons = [{ code: record.reasonCode ?? "", text: record.reason ?? "" }];
  return { chunksLost: 0, messagesLost: 0, isCountKnown: false, attachmentsLost: 0, bytesLost, reasons };
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
}

type Span = Pick<RecordingSummary, "startNs" | "endNs">;

/** The row includes the columns by which the topic is listed while the recording is imported. */
export function topicRow(owner: AttachmentOwner, { startNs, endNs }: Span, topic: TopicSummary) {
  return {
    recordingId: owner.recordingId,
    topic: topic.topic,
    version: topic.version,
    messageEncoding: topic.messageEncoding,
    schemaName: topic.schemaName,
    schemaEncoding: topic.schemaEncoding,
    schemaSha256: topic.schemaSha256,
    channelsKey: topic.channelsKey ?? null,
    messageCount: BigInt(topic.messageCount),
    startNs: topic.startNs,
    endNs: topic.endNs,
    importedProjectId: owner.projectId,
    importedDeviceId: owner.deviceId,
    importedStartNs: startNs,
    importedEndNs: endNs,
  };
}

/** The recording, and the columns by which its attachments are listed. */
export interface AttachmentOwner {
  readonly recordingId: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly deviceId: string | null;
  readonly siteId: string;
}

export function attachmentRow(owner: AttachmentOwner, attachment: AttachmentSummary) {
  return {
    id: newId("att"),
    ...owner,
    name: attachment.name,
    mediaType: attachment.mediaType,
    logTimeNs: attachment.logTimeNs,
    createTimeNs: attachment.createTimeNs,
    crc: BigInt(attachment.crc),
    dataOffset: BigInt(attachment.dataOffset),
    sizeBytes: BigInt(attachment.sizeBytes),
    fingerprint: attachment.dataSha256 && `sha256:${attachment.dataSha256}`,
  };
}

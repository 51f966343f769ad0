import type { EdgeItem, EdgeRecordingItem } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";

/** The columns that every item fills, whatever its file is. */
export function fileColumns(item: EdgeItem) {
  const { reason, salvage } = item.state === "indexed" ? {} : item;
  return {
    versionId: item.versionId,
    path: item.path,
    sizeBytes: item.size,
    modifiedAtNs: item.modifiedAt,
    headTailSha256: item.headTailSha256,
    state: item.state,
    reasonCode: reason?.code,
    reasonText: reason?.text,
    salvageStartNs: salvage?.start,
    salvageEndNs: salvage?.end,
  };
}

export function recordingColumns(item: EdgeRecordingItem) {
  return {
    path: item.path,
    sizeBytes: item.size,
    startNs: item.start,
    endNs: item.end,
    durationNs: item.end - item.start,
    key: item.key,
    format: item.format,
    messageCount: item.messageCount,
    metadata: item.metadata,
  };
}

export function spanRows(recordingId: string, { spans = [] }: EdgeRecordingItem) {
  return spans.map(({ start, end }) => ({ recordingId, startNs: start, endNs: end }));
}

export function attachmentRows(recordingId: string, { attachments }: EdgeRecordingItem) {
  return attachments.map((attachment) => ({
    id: newId("att"),
    recordingId,
    name: attachment.name,
    mediaType: attachment.mediaType,
    logTimeNs: attachment.logTime,
    createTimeNs: attachment.createTime,
    crc: attachment.crc,
    dataOffset: attachment.dataOffset,
    sizeBytes: attachment.size,
  }));
}

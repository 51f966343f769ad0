// A row says itself which site, project and device it belongs to, from its import on, because most recordings stay
// at the edge and a list that looks at each attachment's recording reads those too: 1 ms instead of 380 for a device
// of 100,000.

import type { RecordingAttachment } from "@downlink/protocol";
import type { Prisma } from "../db/generated/client.ts";

export const attachmentColumns = {
  id: true,
  recordingId: true,
  siteId: true,
  name: true,
  mediaType: true,
  logTimeNs: true,
  createTimeNs: true,
  crc: true,
  dataOffset: true,
  sizeBytes: true,
  fingerprint: true,
} as const satisfies Prisma.RecordingAttachmentSelect;

export type AttachmentRow = Prisma.RecordingAttachmentGetPayload<{ select: typeof attachmentColumns }>;

/** Only of attachments that a primary site holds. */
export function toAttachment(row: AttachmentRow): RecordingAttachment {
  return {
    id: row.id,
    recordingId: row.recordingId,
    siteId: row.siteId!,
    name: row.name,
    mediaType: row.mediaType,
    logTime: row.logTimeNs,
    createTime: row.createTimeNs,
    crc: Number(row.crc),
    dataOffset: Number(row.dataOffset),
    size: Number(row.sizeBytes),
    fingerprint: fingerprintOf(row),
  };
}

/** What was imported before fingerprints were computed has its CRC; a CRC of 0 was not computed, and says nothing. */
export function fingerprintOf({ id, fingerprint, crc, sizeBytes }: AttachmentRow): string {
  return fingerprint ?? (crc === 0n ? `attachment:${id}` : `crc32:${crc}:${sizeBytes}`);
}

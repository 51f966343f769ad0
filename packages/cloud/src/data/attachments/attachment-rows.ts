// From its import on, the row itself holds its site, project and device, because most recordings stay at the edge: a list that looked at
// each attachment's recording would read those too, and take 380 ms instead of 1 ms for a device with 100,000.

import type { RecordingAttachment } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";

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
  recording: { select: { siteObjectKey: true } },
} as const satisfies Prisma.RecordingAttachmentSelect;

export type AttachmentRow = Prisma.RecordingAttachmentGetPayload<{ select: typeof attachmentColumns }>;

/** The caller asks only for attachments that a primary site holds. */
export function toAttachment(row: AttachmentRow): Complete<RecordingAttachment> {
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
    lakePath: row.recording.siteObjectKey ?? undefined,
  };
}

/** Attachments that were imported before fingerprints were computed have only a CRC; a CRC of 0 was never computed and says nothing. */
export function fingerprintOf({ id, fingerprint, crc, sizeBytes }: Omit<AttachmentRow, "recording">): string {
  return fingerprint ?? (crc === 0n ? `attachment:${id}` : `crc32:${crc}:${sizeBytes}`);
}

import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import { openCursor, readU32 } from "../reading/field-cursor.ts";
import type { AttachmentSummary } from "../survey/summary.ts";
import { addAttachment } from "../survey/survey.ts";
import type { Verifying } from "../verified/verifying.ts";
import { openRecordStart, type RecordHead } from "./record-head.ts";
import { readAttachmentHead } from "./records.ts";
import { endOfRecord } from "./stored-chunk.ts";

/**
 * Compares an attachment with its checksum, and answers where the next record begins. An attachment that is damaged or has an impossible
 * time is reported as damage and left out of exports, because the messages are sound all the same. It must not be copied:
 * `McapStreamReader` gives up a whole file for one attachment that fails its checksum.
 */
export async function verifyAttachment(head: RecordHead, verifying: Verifying): Promise<number> {
  const { reader, context, survey, damage } = verifying;
  let attachment: AttachmentSummary | undefined;
  try {
    const cursor = await openRecordStart(head, reader, ATTACHMENT_START_BYTES);
    attachment = { ...readAttachmentHead(cursor, head.contentOffset), crc: 0 };
    const end = await endOfRecord(head, attachment.dataOffset + attachment.sizeBytes + 4, verifying);
    await hashAttachment(attachment, head, verifying);
    addAttachment(survey, attachment, context.limits);
    return end;
  } catch (error) {
    if (!(error instanceof RecordingError) || error.reason.code === "TooManyRecords") throw error;
    damage.addAttachment(head.offset, error.reason, attachment?.name);
    return head.end;
  }
}

/** The name and the media type must fit into it. */
const ATTACHMENT_START_BYTES = 4 * 1024;

/** spec: MCAP "Attachment": the CRC covers everything from the log time to the end of the data. */
async function hashAttachment(attachment: AttachmentSummary, head: RecordHead, { reader }: Verifying): Promise<void> {
  const { dataOffset, sizeBytes, name } = attachment;
  const dataEnd = dataOffset + sizeBytes;
  if (dataEnd + 4 > head.end)
    throw new RecordingError(
      "BadRecord",
      `the attachment "${name}" at byte ${head.offset} says that it is longer than its record`,
    );
  const hash = createHash("sha256");
  let crc = 0;
  let at = head.contentOffset;
  for await (const piece of reader.stream(at, dataEnd - at)) {
    crc = crc32(piece, crc);
    hash.update(piece.subarray(Math.max(0, dataOffset - at)));
    at += piece.byteLength;
  }
  attachment.dataSha256 = hash.digest("hex");
  attachment.crc = readU32(openCursor(await reader.fetch(dataEnd, 4), `the attachment at byte ${head.offset}`));
  if (attachment.crc === 0 || crc === attachment.crc) return;
  const text = `the attachment "${name}" at byte ${head.offset} fails its checksum; the file is damaged there`;
  throw new RecordingError("BadRecord", text);
}

import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import { streamRange } from "../../reading/stream-range.ts";
import { SourceChangedError } from "../../sources/source.ts";
import type { AttachmentSummary } from "../../survey/summary.ts";
import { announcePayload, encodeRecords } from "./mcap-output.ts";
import type { McapWriter } from "./mcap-writer.ts";

/**
 * Copies an attachment's record in pieces, because it may be larger than memory. Throws `SourceChangedError` behind the last piece if the
 * data are not what they were when the recording was verified.
 */
export async function* copyAttachment(
  attachment: AttachmentSummary,
  writer: McapWriter,
  context: ReadContext,
): AsyncGenerator<Uint8Array> {
  const { name, dataOffset, sizeBytes, dataSha256 } = attachment;
  const hash = createHash("sha256");
  const head = encodeHead(attachment);
  let crc = crc32(head.subarray(RECORD_HEAD_BYTES));
  yield writer.beginAttachment(attachment, head);
  for await (const piece of streamRange(context, dataOffset, sizeBytes)) {
    crc = crc32(piece, crc);
    hash.update(piece);
    yield writer.append(piece);
  }
  if (dataSha256 !== undefined && hash.digest("hex") !== dataSha256)
    throw new SourceChangedError(`the attachment "${name}" is not what it was when the recording was verified`);
  const tail = Buffer.alloc(CRC_BYTES);
  tail.writeUInt32LE(crc);
  yield writer.append(tail);
}

const CRC_BYTES = 4;

function encodeHead({ name, mediaType, logTimeNs, createTimeNs, sizeBytes }: AttachmentSummary): Uint8Array {
  const empty = { name, mediaType, logTime: logTimeNs, createTime: createTimeNs, data: new Uint8Array(0) };
  return announcePayload(
    encodeRecords((builder) => builder.writeAttachment(empty)),
    sizeBytes,
    CRC_BYTES,
  );
}

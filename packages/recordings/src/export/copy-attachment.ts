import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { opcodes, recordHeadBytes } from "../mcap/opcodes.ts";
import type { ReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import { streamRange } from "../stream-range.ts";
import type { AttachmentSummary } from "../summary.ts";
import type { McapWriter } from "./mcap-writer.ts";

/** An attachment's record in pieces: it may be larger than memory. */
export async function* copyAttachment(
  attachment: AttachmentSummary,
  writer: McapWriter,
  context: ReadContext,
): AsyncGenerator<Uint8Array> {
  const { dataOffset, sizeBytes } = attachment;
  const head = encodeHead(attachment);
  let crc = crc32(head.subarray(recordHeadBytes));
  yield writer.beginAttachment(attachment, head);
  for await (const piece of streamRange(context, dataOffset, sizeBytes)) {
    crc = crc32(piece, crc);
    yield writer.append(piece);
  }
  refuseDamage(attachment, crc);
  const tail = Buffer.alloc(crcBytes);
  tail.writeUInt32LE(crc);
  yield writer.append(tail);
}

const crcBytes = 4;

/** Everything before the data. The builder writes whole records only, so its lengths are set afterwards. */
function encodeHead({ name, mediaType, logTimeNs, createTimeNs, sizeBytes }: AttachmentSummary): Buffer {
  const builder = new McapRecordBuilder();
  const data = new Uint8Array(0);
  builder.writeAttachment({ name, mediaType, logTime: logTimeNs, createTime: createTimeNs, data });
  const head = Buffer.from(builder.buffer).subarray(0, -crcBytes);
  head[0] = opcodes.attachment;
  head.writeBigUInt64LE(BigInt(head.byteLength - recordHeadBytes + sizeBytes + crcBytes), 1);
  head.writeBigUInt64LE(BigInt(sizeBytes), head.byteLength - 8);
  return head;
}

/** Names in which characters were replaced give another checksum; they are not compared. */
function refuseDamage({ name, mediaType, crc: told }: AttachmentSummary, crc: number): void {
  if (told === 0 || told === crc || `${name}${mediaType}`.includes("\ufffd")) return;
  throw new RecordingFault("BadRecord", `the attachment "${name}" fails its checksum; the file is damaged there`);
}

import { crc32 } from "node:zlib";
import { recordHeadBytes } from "../../mcap/opcodes.ts";
import type { ReadContext } from "../../read-context.ts";
import { streamRange } from "../../stream-range.ts";
import type { AttachmentSummary } from "../../summary.ts";
import { announcePayload, encode } from "./mcap-output.ts";
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
  const tail = Buffer.alloc(crcBytes);
  tail.writeUInt32LE(crc);
  yield writer.append(tail);
}

/**
 * Whether an attachment is what its checksum says; without one, it is. Read before it is copied: some readers give up a
 * whole file for one attachment that fails its checksum.
 */
export async function isSound(attachment: AttachmentSummary, context: ReadContext): Promise<boolean> {
  const { name, mediaType, dataOffset, sizeBytes, crc: told } = attachment;
  // Characters that were replaced give another checksum.
  if (told === 0 || `${name}${mediaType}`.includes("\ufffd")) return true;
  let crc = crc32(encodeHead(attachment).subarray(recordHeadBytes));
  for await (const piece of streamRange(context, dataOffset, sizeBytes)) crc = crc32(piece, crc);
  return crc === told;
}

const crcBytes = 4;

function encodeHead({ name, mediaType, logTimeNs, createTimeNs, sizeBytes }: AttachmentSummary): Uint8Array {
  const empty = { name, mediaType, logTime: logTimeNs, createTime: createTimeNs, data: new Uint8Array(0) };
  return announcePayload(
    encode((builder) => builder.writeAttachment(empty)),
    sizeBytes,
    crcBytes,
  );
}

import { crc32 } from "node:zlib";
import { recordHeadBytes } from "../../mcap/opcodes.ts";
import type { ReadContext } from "../../read-context.ts";
import { RecordingFault } from "../../reasons.ts";
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
  refuseDamage(attachment, crc);
  const tail = Buffer.alloc(crcBytes);
  tail.writeUInt32LE(crc);
  yield writer.append(tail);
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

/** Names in which characters were replaced give another checksum; they are not compared. */
function refuseDamage({ name, mediaType, crc: told }: AttachmentSummary, crc: number): void {
  if (told === 0 || told === crc || `${name}${mediaType}`.includes("\ufffd")) return;
  throw new RecordingFault("BadRecord", `the attachment "${name}" fails its checksum; the file is damaged there`);
}

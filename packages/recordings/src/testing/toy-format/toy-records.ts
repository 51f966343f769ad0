import { RecordingError } from "../../faults/reasons.ts";
import { asBuffer } from "../../memory/as-buffer.ts";
import type { RawMessage } from "../../reading/raw-message.ts";
import type { MessageHead, RecordLayout } from "../../reading/record-layout.ts";
import { kinds, MESSAGE_HEAD_BYTES, RECORD_HEAD_BYTES } from "./toy-layout.ts";

export const toyRecords: RecordLayout = {
  sizeAt: (bytes, at) =>
    at + RECORD_HEAD_BYTES > bytes.byteLength ? RECORD_HEAD_BYTES : RECORD_HEAD_BYTES + bytes.readUInt32LE(at + 1),
  readHead,
  visitMessages(bytes, place, visit) {
    for (const { record } of recordsOf(bytes, place)) {
      const head = readHead(record);
      if (head) visit({ ...head.message, data: record.subarray(head.dataAt) });
    }
  },
};

function readHead(bytes: Buffer): MessageHead | undefined {
  if (bytes.byteLength < MESSAGE_HEAD_BYTES || bytes[0] !== kinds.message) return undefined;
  const logTimeNs = bytes.readBigUInt64LE(RECORD_HEAD_BYTES + 1);
  const message = { channelId: bytes[RECORD_HEAD_BYTES]!, sequence: 0, logTimeNs, publishTimeNs: logTimeNs };
  return { message, dataAt: MESSAGE_HEAD_BYTES };
}

/** The records of a block, each with the place where it ends. */
export function* recordsOf(bytes: Uint8Array, place: string): Generator<{ record: Buffer; end: number }> {
  const buffer = asBuffer(bytes);
  for (let at = 0; at < buffer.byteLength; ) {
    const end = at + toyRecords.sizeAt(buffer, at);
    if (end > buffer.byteLength) throw new RecordingError("BadChunk", `${place} holds a record that is not whole`);
    yield { record: buffer.subarray(at, end), end };
    at = end;
  }
}

/** The channel that a record introduces, or the message that it is. */
export function readToyRecord(record: Buffer): { id: number; topic: string } | RawMessage {
  const head = readHead(record);
  if (head) return { ...head.message, data: record.subarray(head.dataAt) };
  return { id: record[RECORD_HEAD_BYTES]!, topic: record.toString("utf8", RECORD_HEAD_BYTES + 1) };
}

import { type FieldCursor, openCursor, readTime, readU16, readU32 } from "../field-cursor.ts";
import type { RawMessage } from "../message-run.ts";
import { RecordingFault } from "../reasons.ts";
import { messageHeadBytes, opcodes, recordHeadBytes } from "./opcodes.ts";

export interface ChunkVisitor {
  schema?(cursor: FieldCursor): void;
  channel?(cursor: FieldCursor): void;
  message(message: RawMessage): void;
}

/** Visits the records of a decompressed chunk, or of a run of records outside chunks. */
export function visitRecords(bytes: Uint8Array, place: string, visitor: ChunkVisitor): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;
  while (offset < bytes.byteLength) {
    const at = `${place}, at its byte ${offset},`;
    if (offset + recordHeadBytes > bytes.byteLength) throw broken(at);
    const opcode = bytes[offset]!;
    const contentBytes = Number(view.getBigUint64(offset + 1, true));
    const start = offset + recordHeadBytes;
    offset = start + contentBytes;
    if (offset > bytes.byteLength || opcode === 0) throw broken(at);
    if (opcode === opcodes.message) visitor.message(readMessage(bytes.subarray(start, offset), at));
    if (opcode === opcodes.schema) visitor.schema?.(openCursor(bytes.subarray(start, offset), at, "BadChunk"));
    if (opcode === opcodes.channel) visitor.channel?.(openCursor(bytes.subarray(start, offset), at, "BadChunk"));
  }
}

function readMessage(bytes: Uint8Array, place: string): RawMessage {
  if (bytes.byteLength < messageHeadBytes) throw broken(place);
  const cursor = openCursor(bytes, place, "BadChunk");
  return {
    channelId: readU16(cursor),
    sequence: readU32(cursor),
    logTimeNs: readTime(cursor),
    publishTimeNs: cursor.view.getBigUint64(cursor.position, true),
    data: bytes.subarray(messageHeadBytes),
  };
}

function broken(place: string): RecordingFault {
  return new RecordingFault("BadChunk", `${place} holds a record that is not whole; the file is damaged there`);
}

import { type FieldCursor, nameOf, openCursor, type Place, toValidTime } from "../field-cursor.ts";
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
  let next = 0;
  while (next < bytes.byteLength) {
    const offset = next;
    const at = (): string => `${place}, at its byte ${offset},`;
    if (offset + recordHeadBytes > bytes.byteLength) throw broken(at);
    const opcode = bytes[offset]!;
    const start = offset + recordHeadBytes;
    next = start + Number(view.getBigUint64(offset + 1, true));
    if (next > bytes.byteLength || opcode === 0) throw broken(at);
    if (opcode === opcodes.message) visitor.message(toMessage(bytes, { start, end: next }, at));
    if (opcode === opcodes.schema) visitor.schema?.(openCursor(bytes.subarray(start, next), at, "BadChunk"));
    if (opcode === opcodes.channel) visitor.channel?.(openCursor(bytes.subarray(start, next), at, "BadChunk"));
  }
}

function toMessage(bytes: Uint8Array, { start, end }: { start: number; end: number }, place: Place): RawMessage {
  if (end - start < messageHeadBytes) throw broken(place);
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, messageHeadBytes);
  return {
    channelId: view.getUint16(0, true),
    sequence: view.getUint32(2, true),
    logTimeNs: toValidTime(view.getBigUint64(6, true), place),
    publishTimeNs: view.getBigUint64(14, true),
    data: bytes.subarray(start + messageHeadBytes, end),
  };
}

function broken(place: Place): RecordingFault {
  return new RecordingFault("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}

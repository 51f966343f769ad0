import { RecordingError } from "../faults/reasons.ts";
import { nameOf, type Place } from "../reading/field-cursor.ts";
import type { RawMessage } from "../reading/raw-message.ts";
import { type BagHeader, channelIdOf, opcodeOf, opcodes, parseHeader, timeOf } from "./records.ts";

export interface BagChunkVisitor {
  connection?(header: BagHeader, data: Uint8Array): void;
  message(message: RawMessage): void;
}

/** Visits the records of a decompressed chunk. */
export function visitRecords(bytes: Uint8Array, place: string, visitor: BagChunkVisitor): void {
  let next = 0;
  while (next < bytes.byteLength) {
    const offset = next;
    const at = (): string => `${place}, at its byte ${offset},`;
    const head = slicePart(bytes, offset, at);
    const data = slicePart(bytes, head.end, at);
    next = data.end;
    const header = parseHeader(head.bytes, at, "BadChunk");
    const opcode = opcodeOf(header);
    if (opcode === opcodes.connection) visitor.connection?.(header, data.bytes);
    if (opcode === opcodes.message) visitor.message({ ...readMessageHeader(header), data: data.bytes });
  }
}

/** Reads what the header of a message says. Bags have no sequence and only one time. */
export function readMessageHeader(header: BagHeader): Omit<RawMessage, "data"> {
  const logTimeNs = timeOf(header, "time");
  return { channelId: channelIdOf(header), sequence: 0, logTimeNs, publishTimeNs: logTimeNs };
}

/** Cuts a part of a record out: its length, then as many bytes. */
function slicePart(bytes: Uint8Array, offset: number, place: Place): { bytes: Uint8Array; end: number } {
  const start = offset + 4;
  if (start <= bytes.byteLength) {
    const end = start + new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0, true);
    if (end <= bytes.byteLength) return { bytes: bytes.subarray(start, end), end };
  }
  throw new RecordingError("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}

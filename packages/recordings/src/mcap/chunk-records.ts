import { type FieldCursor, invalidTime, maxTimeNs, nameOf, openCursor, type Place } from "../field-cursor.ts";
import { RecordingFault } from "../reasons.ts";
import { messageHeadBytes, opcodes, recordHeadBytes } from "./opcodes.ts";

export interface ChunkVisitor {
  schema?(cursor: FieldCursor): void;
  channel?(cursor: FieldCursor): void;
  /** For who only counts: nothing is made for a message but its time. */
  tally?(channelId: number, logTimeNs: bigint): void;
}

/** Visits the records of a decompressed chunk, or of a run of records outside chunks. */
export function visitRecords(bytes: Uint8Array, place: string, visitor: ChunkVisitor): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let next = 0;
  while (next < bytes.byteLength) {
    const offset = next;
    const start = offset + recordHeadBytes;
    const opcode = bytes[offset]!;
    next = start > bytes.byteLength ? Number.POSITIVE_INFINITY : start + readContentBytes(view, offset);
    if (next > bytes.byteLength || opcode === 0) throw broken(placeAt(place, offset));
    // A chunk of a few kilobytes may hold 30 million small records: nothing is made for those that nobody looks at.
    if (opcode === opcodes.message) visitMessage(view, { place, offset, end: next }, visitor);
    else if (opcode === opcodes.schema || opcode === opcodes.channel) {
      const cursor = openCursor(bytes.subarray(start, next), placeAt(place, offset), "BadChunk");
      if (opcode === opcodes.schema) visitor.schema?.(cursor);
      else visitor.channel?.(cursor);
    }
  }
}

/** As two halves: a 64-bit number would be an object. */
function readContentBytes(view: DataView, offset: number): number {
  return view.getUint32(offset + 1, true) + view.getUint32(offset + 5, true) * 2 ** 32;
}

function placeAt(place: string, offset: number): Place {
  return () => `${place}, at its byte ${offset},`;
}

interface RecordPlace {
  place: string;
  offset: number;
  end: number;
}

function visitMessage(view: DataView, { place, offset, end }: RecordPlace, visitor: ChunkVisitor): void {
  const start = offset + recordHeadBytes;
  if (end - start < messageHeadBytes) throw broken(placeAt(place, offset));
  const channelId = view.getUint16(start, true);
  const logTimeNs = view.getBigUint64(start + 6, true);
  if (logTimeNs > maxTimeNs) throw invalidTime(logTimeNs, placeAt(place, offset));
  visitor.tally?.(channelId, logTimeNs);
}

function broken(place: Place): RecordingFault {
  return new RecordingFault("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}

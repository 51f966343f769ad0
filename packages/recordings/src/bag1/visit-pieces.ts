import { RecordingError } from "../faults/reasons.ts";
import { nameOf, type Place } from "../reading/field-cursor.ts";
import type { RawMessage } from "../reading/raw-message.ts";
import { createRecordPieces } from "../reading/record-pieces.ts";
import { readMessageHeader } from "./chunk-records.ts";
import { type BagHeader, opcodeOf, opcodes, parseHeader } from "./records.ts";

export interface PieceVisitor {
  connection(header: BagHeader, data: Uint8Array): void;
  message(message: PlacedMessage): void;
}

/** A message without its data. The data stand at `dataStart` among the decompressed records. */
export interface PlacedMessage extends Omit<RawMessage, "data"> {
  readonly dataStart: number;
  readonly dataBytes: number;
}

/**
 * Visits the records of a decompressed chunk that comes in pieces. Only the headers of messages are held. `end` throws if the last record
 * is not whole. A connection is held as a whole: one that is larger than `maxRecordBytes` throws `RecordTooLarge`.
 */
export function createPieceVisitor(place: string, visitor: PieceVisitor, maxRecordBytes: number) {
  const pieces = createRecordPieces((bytes, from, base) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = from;
    while (at + LENGTH_BYTES <= bytes.byteLength) {
      const start = base + at;
      const where: Place = () => `${place}, at its byte ${start},`;
      const headerBytes = view.getUint32(at, true);
      const headWanted = requireSmall(LENGTH_BYTES + headerBytes + LENGTH_BYTES, maxRecordBytes, where);
      if (at + headWanted > bytes.byteLength) return { at, wantedBytes: headWanted };
      const dataStart = at + headWanted;
      const dataBytes = view.getUint32(dataStart - LENGTH_BYTES, true);
      const header = parseHeader(bytes.subarray(at + LENGTH_BYTES, dataStart - LENGTH_BYTES), where, "BadChunk");
      const opcode = opcodeOf(header);
      if (opcode === opcodes.connection) {
        const wantedBytes = requireSmall(headWanted + dataBytes, maxRecordBytes, where);
        if (at + wantedBytes > bytes.byteLength) return { at, wantedBytes };
        visitor.connection(header, bytes.subarray(dataStart, dataStart + dataBytes));
      }
      if (opcode === opcodes.message)
        visitor.message({ ...readMessageHeader(header), dataStart: base + dataStart, dataBytes });
      at = dataStart + dataBytes;
    }
    return { at, wantedBytes: LENGTH_BYTES };
  });
  return {
    push: pieces.push,
    end(): void {
      if (pieces.isWhole()) return;
      const text = `${place}, at its end, holds a record that is not whole; the file is damaged there`;
      throw new RecordingError("BadChunk", text);
    },
  };
}

/** The size of the length that stands before a header and before data. */
const LENGTH_BYTES = 4;

function requireSmall(bytes: number, most: number, place: Place): number {
  if (bytes <= most) return bytes;
  const text = `${nameOf(place)} holds a record of ${bytes} bytes that says what its messages are; at most ${most} are read`;
  throw new RecordingError("RecordTooLarge", text);
}

import { nameOf, type Place } from "../field-cursor.ts";
import type { RawMessage } from "../raw-message.ts";
import { RecordingFault } from "../reasons.ts";
import { createRecordPieces } from "../record-pieces.ts";
import { readMessageHeader } from "./chunk-records.ts";
import { type BagHeader, opcodeOf, opcodes, parseHeader } from "./records.ts";

export interface PieceVisitor {
  connection(header: BagHeader, data: Uint8Array): void;
  message(message: PlacedMessage): void;
}

/** A message without its data, which stand at `dataStart` among the decompressed records. */
export interface PlacedMessage extends Omit<RawMessage, "data"> {
  dataStart: number;
  dataBytes: number;
}

/**
 * Visits the records of a decompressed chunk that comes in pieces; of messages only the headers are held. `end` throws where the last
 * record is not whole. `maxRecordBytes`: of a connection, which is held as a whole.
 */
export function createPieceVisitor(place: string, visitor: PieceVisitor, maxRecordBytes: number) {
  const pieces = createRecordPieces((bytes, from, base) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = from;
    while (at + lengthBytes <= bytes.byteLength) {
      const start = base + at;
      const where: Place = () => `${place}, at its byte ${start},`;
      const headerEnd = at + lengthBytes + view.getUint32(at, true);
      const dataStart = headerEnd + lengthBytes;
      if (headerEnd - at > maxRecordBytes) throw notWhole(where);
      if (dataStart > bytes.byteLength) return at;
      const dataBytes = view.getUint32(headerEnd, true);
      const header = parseHeader(bytes.subarray(at + lengthBytes, headerEnd), where, "BadChunk");
      const opcode = opcodeOf(header);
      if (opcode === opcodes.connection) {
        if (dataBytes > maxRecordBytes) throw notWhole(where);
        if (dataStart + dataBytes > bytes.byteLength) return at;
        visitor.connection(header, bytes.subarray(dataStart, dataStart + dataBytes));
      }
      if (opcode === opcodes.message)
        visitor.message({ ...readMessageHeader(header), dataStart: base + dataStart, dataBytes });
      at = dataStart + dataBytes;
    }
    return at;
  });
  return {
    push: pieces.push,
    end(): void {
      if (!pieces.isWhole()) throw notWhole(() => `${place}, at its end,`);
    },
  };
}

/** Of what stands before a header and before data. */
const lengthBytes = 4;

function notWhole(place: Place): RecordingFault {
  return new RecordingFault("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}

import { RecordingError } from "../faults/reasons.ts";
import type { SeenRecord, SeeRecord } from "../reading/begun-chunk.ts";
import { channelIdOf, opcodeOf, opcodes, parseHeader, readConnection, timeOf } from "./records.ts";

/** Judges the records in a chunk of a bag. `isKnown` says whether the file introduces a channel elsewhere. */
export function seeBagRecords(isKnown: (channelId: number) => boolean, maxRecordBytes: number): SeeRecord {
  const introduced = new Set<number>();
  return (bytes, at): SeenRecord => {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at);
    if (view.byteLength < LENGTH_BYTES) return { wantedBytes: LENGTH_BYTES };
    const headBytes = headBytesOf(view);
    if (view.byteLength < headBytes) return { wantedBytes: headBytes };
    const recordBytes = headBytes + view.getUint32(headBytes - LENGTH_BYTES, true);
    const header = parseHeader(
      bytes.subarray(at + LENGTH_BYTES, at + headBytes - LENGTH_BYTES),
      "a record",
      "BadChunk",
    );
    const channelId = channelIdOf(header);
    if (opcodeOf(header) === opcodes.message) {
      if (!introduced.has(channelId) && !isKnown(channelId)) throw senseless();
      return { recordBytes, timeNs: timeOf(header, "time") };
    }
    if (opcodeOf(header) !== opcodes.connection || recordBytes > maxRecordBytes) throw senseless();
    if (view.byteLength < recordBytes) return { wantedBytes: recordBytes };
    readConnection(header, bytes.subarray(at + headBytes, at + recordBytes));
    introduced.add(channelId);
    return { recordBytes };
  };
}

/** The size of a record's header with the lengths before and behind it. */
function headBytesOf(view: DataView): number {
  const headerBytes = view.getUint32(0, true);
  if (headerBytes === 0 || headerBytes > MOST_HEADER_BYTES) throw senseless();
  return 2 * LENGTH_BYTES + headerBytes;
}

const LENGTH_BYTES = 4;
/** The header of a message is 38 bytes large; that of a connection holds its topic too. */
const MOST_HEADER_BYTES = 4096;

function senseless(): RecordingError {
  return new RecordingError("BadChunk", "the record makes no sense");
}

import { RecordingError } from "../faults/reasons.ts";
import type { SeenRecord, SeeRecord } from "../reading/begun-chunk.ts";
import { openCursor } from "../reading/field-cursor.ts";
import { EMPTY_MESSAGE_BYTES, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { readDamagedChannel } from "./records.ts";

interface Bounds {
  /** Records of any type may stand in the chunk, because its checksum judges them; else only schemas, channels and messages make sense. */
  readonly takesOthers?: boolean;
  readonly maxRecordBytes: number;
  readonly maxChunkBytes: number;
}

/** Judges the records in a chunk. `isKnown` says whether the file introduces a channel elsewhere. */
export function seeMcapRecords(isKnown: (channelId: number) => boolean, bounds: Bounds): SeeRecord {
  const introduced = new Set<number>();
  const requireIntroduced = (channelId: number): void => {
    if (!introduced.has(channelId) && !isKnown(channelId)) throw senseless();
  };
  return (bytes, at): SeenRecord => {
    const leftBytes = bytes.byteLength - at;
    if (leftBytes < RECORD_HEAD_BYTES) return { wantedBytes: RECORD_HEAD_BYTES };
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, leftBytes);
    const recordBytes = RECORD_HEAD_BYTES + view.getUint32(1, true) + view.getUint32(5, true) * 2 ** 32;
    if (view.getUint8(0) !== opcodes.message) {
      if (recordBytes > bounds.maxRecordBytes) throw senseless();
      if (leftBytes < recordBytes) return { wantedBytes: recordBytes };
      seeDefinition(bytes.subarray(at, at + recordBytes), introduced, bounds);
      return { recordBytes };
    }
    if (!isInside(recordBytes, bounds.maxChunkBytes)) throw senseless();
    if (leftBytes < EMPTY_MESSAGE_BYTES) return { wantedBytes: EMPTY_MESSAGE_BYTES };
    requireIntroduced(view.getUint16(9, true));
    return { recordBytes, timeNs: view.getBigUint64(15, true) };
  };
}

function isInside(messageBytes: number, mostBytes: number): boolean {
  return messageBytes >= EMPTY_MESSAGE_BYTES && messageBytes <= mostBytes;
}

/** Throws if the record is neither a schema nor a channel, nor another one that may be there. One whose fields make no sense introduces nothing. */
function seeDefinition(record: Uint8Array, introduced: Set<number>, { takesOthers = false }: Bounds): void {
  if (record[0] === opcodes.channel) introduce(record, introduced);
  else if (record[0] !== opcodes.schema && (!takesOthers || record[0] === 0)) throw senseless(); // no record has the type 0. source: MCAP, Records
}

function introduce(record: Uint8Array, introduced: Set<number>): void {
  try {
    introduced.add(readDamagedChannel(openCursor(record.subarray(RECORD_HEAD_BYTES), "a record", "BadChunk")).id);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
}

function senseless(): RecordingError {
  return new RecordingError("BadChunk", "the record makes no sense");
}

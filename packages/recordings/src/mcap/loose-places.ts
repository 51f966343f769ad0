import { isNearSpan } from "../reading/begun-chunk.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { hasChannel, type Survey } from "../survey/survey.ts";
import type { DamagedReading } from "./judge-chunk.ts";
import { EMPTY_MESSAGE_BYTES, MESSAGE_HEAD_BYTES, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

/*
 * Messages may stand outside of chunks, with the schemas and channels that they need. Behind a place that makes no sense they are found by
 * their heads: a message names a known channel and a time near those of the file, a schema or channel fills its record, and where the record
 * ends another begins. Bytes that stand there by chance are never all of that.
 */

/** A place where such a record may begin, by its first bytes. */
export interface LoosePlace {
  readonly offset: number;
  readonly opcode: number;
  readonly end: number;
}

/** Lists the places among the first `count` bytes of a piece of the file, which begins at `at`. */
export function loosePlacesIn(
  piece: Buffer,
  { at, count }: { at: number; count: number },
  { context, survey }: DamagedReading,
): LoosePlace[] {
  const places: LoosePlace[] = [];
  for (let from = 0; from < count && from + RECORD_HEAD_BYTES <= piece.byteLength; from += 1) {
    const opcode = piece[from]!;
    if (opcode < opcodes.schema || opcode > opcodes.message || piece.readUInt32LE(from + 5) !== 0) continue;
    const contentBytes = piece.readUInt32LE(from + 1);
    const end = at + from + RECORD_HEAD_BYTES + contentBytes;
    if (end > context.source.sizeBytes || contentBytes > mostBytesOf(opcode, context)) continue;
    const isLikely =
      opcode === opcodes.message
        ? contentBytes >= MESSAGE_HEAD_BYTES && isMessageHead(piece.subarray(from, from + EMPTY_MESSAGE_BYTES), survey)
        : contentBytes > LEAST_DEFINITION_BYTES;
    if (isLikely) places.push({ offset: at + from, opcode, end });
  }
  return places;
}

const LEAST_DEFINITION_BYTES = 12;

function mostBytesOf(opcode: number, { limits }: ReadContext): number {
  return opcode === opcodes.message ? limits.maxChunkBytes : limits.maxRecordBytes;
}

/** Whether a message of a known channel begins there, at a time near those of the file. Its length may be damaged. */
function isMessageHead(bytes: Uint8Array, survey: Survey): boolean {
  if (bytes.byteLength < EMPTY_MESSAGE_BYTES || bytes[0] !== opcodes.message) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset + RECORD_HEAD_BYTES, MESSAGE_HEAD_BYTES);
  const timeNs = view.getBigUint64(6, true);
  return hasChannel(survey, view.getUint16(0, true)) && timeNs <= MAX_TIME_NS && isNearSpan(timeNs, survey);
}

/** Whether the record at a place is one, and another stands behind it. The bytes read for it count, because there may be many places. */
export async function isLoose(place: LoosePlace, reading: DamagedReading): Promise<boolean> {
  const { end } = place;
  const { context, survey } = reading;
  if (place.opcode !== opcodes.message && !(await fillsDefinition(place, reading))) return false;
  const behindBytes = Math.min(EMPTY_MESSAGE_BYTES, context.source.sizeBytes - end);
  if (behindBytes < RECORD_HEAD_BYTES) return true;
  const behind = await look(end, behindBytes, reading);
  const view = new DataView(behind.buffer, behind.byteOffset, behind.byteLength);
  const isKnown = behind[0]! >= opcodes.header && behind[0]! <= opcodes.dataEnd;
  const isInside = Number(view.getBigUint64(1, true)) <= context.source.sizeBytes - end - RECORD_HEAD_BYTES;
  return (isKnown && isInside) || isMessageHead(behind, survey);
}

/**
 * Whether a schema's or channel's record is filled by its fields: its length is then true. Each has three texts or maps behind its numbers. Only
 * their lengths are read, because garbage may say that it is megabytes long.
 */
async function fillsDefinition({ offset, opcode, end }: LoosePlace, reading: DamagedReading): Promise<boolean> {
  let at = offset + RECORD_HEAD_BYTES + (opcode === opcodes.schema ? 2 : 4);
  for (let left = 3; left > 0; left -= 1) {
    if (at + 4 > end) return false;
    const { buffer, byteOffset } = await look(at, 4, reading);
    at += 4 + new DataView(buffer, byteOffset, 4).getUint32(0, true);
  }
  return at === end;
}

/** The reader's window stays where it is, because a length that is garbage names a far place. */
async function look(offset: number, length: number, { context, reader }: DamagedReading): Promise<Uint8Array> {
  const held = reader.peek(offset, length);
  if (held) return held;
  const { source } = context;
  return (await source.read(offset, Math.min(Math.max(length, LEAST_READ_BYTES), source.sizeBytes - offset))).subarray(
    0,
    length,
  );
}

/** So much takes hardly longer than a few bytes, and bounds how often something is read. */
const LEAST_READ_BYTES = 16 * 1024;

import { type ReasonCode, RecordingError } from "../faults/reasons.ts";

/** Says in the text of an error where it is, e.g. "the record at byte 412". A function avoids making the text when there is no error. */
export type Place = string | (() => string);

export function nameOf(place: Place): string {
  return typeof place === "string" ? place : place();
}

/** A position in the bytes of one record. Reading past its end throws an error that names the record. */
export interface FieldCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  position: number;
  readonly place: Place;
  readonly code: ReasonCode;
}

export function openCursor(bytes: Uint8Array, place: Place, code: ReasonCode = "BadRecord"): FieldCursor {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), position: 0, place, code };
}

export function readU16(cursor: FieldCursor): number {
  return cursor.view.getUint16(advance(cursor, 2), true);
}

export function readU32(cursor: FieldCursor): number {
  return cursor.view.getUint32(advance(cursor, 4), true);
}

export function readU64(cursor: FieldCursor): bigint {
  return cursor.view.getBigUint64(advance(cursor, 8), true);
}

/** Reads an offset, length or count. A number above 2^53 is beyond every file. */
export function readSize(cursor: FieldCursor): number {
  // The number is read in two halves, because a 64-bit number would be an object, and there may be millions of them.
  const low = readU32(cursor);
  const size = low + readU32(cursor) * 2 ** 32;
  if (size <= Number.MAX_SAFE_INTEGER) return size;
  const exactSize = cursor.view.getBigUint64(cursor.position - 8, true);
  throw new RecordingError(
    "LengthBeyondFile",
    `${nameOf(cursor.place)} gives an offset or length of ${exactSize} bytes`,
  );
}

/** Reads a log, publish or creation time in nanoseconds, which must fit into a signed 64-bit number. */
export function readTime(cursor: FieldCursor): bigint {
  return toValidTime(readU64(cursor), cursor.place);
}

export function toValidTime(timeNs: bigint, place: Place): bigint {
  if (timeNs <= MAX_TIME_NS) return timeNs;
  throw invalidTime(timeNs, place);
}

export const MAX_TIME_NS = 2n ** 63n - 1n;

export function invalidTime(timeNs: bigint, place: Place): RecordingError {
  const text = `${nameOf(place)} has the time ${timeNs} ns, which lies beyond the year 2262`;
  return new RecordingError("InvalidTime", text);
}

export function readText(cursor: FieldCursor): string {
  return toText(readBytes(cursor, readU32(cursor)));
}

/** Invalid UTF-8 and U+0000 become U+FFFD: databases refuse NUL in texts, and a topic name must stay one value. */
export function toText(bytes: Uint8Array): string {
  return decoder.decode(bytes).replaceAll("\0", "\ufffd");
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function readTextMap(cursor: FieldCursor): Record<string, string> {
  const end = readU32(cursor) + cursor.position;
  if (end > cursor.bytes.byteLength) advance(cursor, end - cursor.position);
  const entries: [string, string][] = [];
  while (cursor.position < end) entries.push([readText(cursor), readText(cursor)]);
  if (cursor.position !== end) refuse(cursor, "has a map whose entries are longer than the map");
  // `fromEntries` is used because a key may be "__proto__", which an assignment would not store.
  return Object.fromEntries(entries);
}

/** Answers a view, not a copy. */
export function readBytes(cursor: FieldCursor, length: number): Uint8Array {
  const from = advance(cursor, length);
  return cursor.bytes.subarray(from, from + length);
}

export function refuse(cursor: FieldCursor, text: string): never {
  throw new RecordingError(cursor.code, `${nameOf(cursor.place)} ${text}; the file is damaged there`);
}

function advance(cursor: FieldCursor, length: number): number {
  const from = cursor.position;
  if (from + length > cursor.bytes.byteLength) refuse(cursor, "ends in the middle of a field");
  cursor.position = from + length;
  return from;
}

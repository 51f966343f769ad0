import { RecordingError } from "../faults/reasons.ts";
import { type FieldCursor, openCursor } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { refuseBeyond, type WindowReader } from "../reading/window-reader.ts";
import { opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

export interface RecordHead {
  readonly opcode: number;
  /** Where the record begins. */
  readonly offset: number;
  readonly contentOffset: number;
  readonly contentBytes: number;
  /** First byte after the record. */
  readonly end: number;
  /** The record's own length is not true, or was not looked at. */
  readonly isMended?: boolean;
}

export function parseRecordHead(bytes: Uint8Array, offset: number, sizeBytes: number): RecordHead {
  const exactBytes = new DataView(bytes.buffer, bytes.byteOffset + 1, 8).getBigUint64(0, true);
  const contentBytes = Number(exactBytes);
  const contentOffset = offset + RECORD_HEAD_BYTES;
  refuseBeyond({ offset: contentOffset, length: contentBytes, sizeBytes, exactLength: exactBytes });
  const opcode = bytes[0]!;
  if (opcode === 0) {
    const text = `the record at byte ${offset} has no type; that part of the file was never written or is overwritten`;
    throw new RecordingError("BadRecord", text);
  }
  return { opcode, offset, contentOffset, contentBytes, end: contentOffset + contentBytes };
}

/**
 * Answers where a record ends whose content makes no sense, if another record stands there: then its length is true. A chunk is first judged
 * by what it holds. The type of a record behind it may be damaged too, or be one that only its writer knows: then one of a known type must
 * stand behind that.
 */
export async function endOfFramed(offset: number, context: ReadContext): Promise<number | undefined> {
  const head = await readHeadAt(offset, context);
  if (!head || isUnknown(head)) return undefined;
  let behind = await readHeadAt(head.end, context);
  for (let left = MOST_UNKNOWN; behind && isUnknown(behind) && left > 0; left -= 1)
    behind = await readHeadAt(behind.end, context);
  return behind && !isUnknown(behind) ? head.end : undefined;
}

/** So many records of unknown types are passed on the way to a known one. */
const MOST_UNKNOWN = 4;

/** Whether a record of a known type stands there, and behind it another or the end of the file. */
export async function isRecordAt(offset: number, context: ReadContext): Promise<boolean> {
  const head = await readHeadAt(offset, context);
  if (!head || isUnknown(head)) return false;
  if (head.end + RECORD_HEAD_BYTES > context.source.sizeBytes) return true;
  const behind = await readHeadAt(head.end, context);
  return behind !== undefined && !isUnknown(behind);
}

/**
 * Whether what stands there shows that the record before it ends there: the file's end, or a record that stands in no chunk, and behind that
 * another one.
 */
export async function isBoundary(offset: number, context: ReadContext): Promise<boolean> {
  if (offset === context.source.sizeBytes) return true;
  const head = await readHeadAt(offset, context);
  return head !== undefined && !mayStandInChunk.has(head.opcode) && (await isRecordAt(offset, context));
}

const mayStandInChunk: ReadonlySet<number> = new Set([opcodes.schema, opcodes.channel, opcodes.message]);

function isUnknown({ opcode }: RecordHead): boolean {
  return opcode > opcodes.dataEnd;
}

/** Answers undefined if no record's head makes sense there. No window is moved, because a length that is garbage names a far place. */
async function readHeadAt(offset: number, { source }: ReadContext): Promise<RecordHead | undefined> {
  if (offset + RECORD_HEAD_BYTES > source.sizeBytes) return undefined;
  try {
    return parseRecordHead(await source.read(offset, RECORD_HEAD_BYTES), offset, source.sizeBytes);
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/** Reads the whole content of a record that is kept in memory. */
export async function openRecord(
  head: RecordHead,
  reader: WindowReader,
  { limits }: ReadContext,
): Promise<FieldCursor> {
  if (head.contentBytes > limits.maxRecordBytes) {
    const text = `the record at byte ${head.offset} is ${head.contentBytes} bytes large; at most ${limits.maxRecordBytes} are read`;
    throw new RecordingError("RecordTooLarge", text);
  }
  return openCursor(await reader.fetch(head.contentOffset, head.contentBytes), `the record at byte ${head.offset}`);
}

/** Reads the first bytes of a record whose payload stays in the file. */
export async function openRecordStart(
  head: RecordHead,
  reader: WindowReader,
  lengthBytes: number,
): Promise<FieldCursor> {
  const bytes = await reader.fetch(head.contentOffset, Math.min(lengthBytes, head.contentBytes));
  return openCursor(bytes, `the record at byte ${head.offset}`);
}

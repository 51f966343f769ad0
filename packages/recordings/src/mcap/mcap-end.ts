import { type Reason, RecordingError } from "../faults/reasons.ts";
import { type FieldCursor, openCursor, readSize, readU32, readU64 } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { WindowReader } from "../reading/window-reader.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import { FOOTER_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

export interface McapEnd {
  readonly footerOffset: number;
  /** 0 if there is no summary section. */
  readonly summaryStart: number;
  /** 0 if there are no summary offsets. */
  readonly summaryOffsetStart: number;
  /** 0 if it is not given. */
  readonly summaryCrc: number;
  /** False if what the footer says of the summary is impossible and is left out. */
  readonly isSound: boolean;
  /** The last bytes of the file, from `tailOffset` on. */
  readonly tail: Uint8Array;
  readonly tailOffset: number;
}

/** Throws `NoEnd` if the trailing magic is missing, and `BadFooter` if no footer stands before it. */
export async function readMcapEnd(source: RandomAccessSource, tailBytes: number): Promise<McapEnd> {
  const { sizeBytes } = source;
  const tailOffset = Math.max(0, sizeBytes - tailBytes);
  const tail = await source.read(tailOffset, sizeBytes - tailOffset);
  if (sizeBytes < smallestBytes || !hasMagic(tail, tail.byteLength - magic.byteLength)) {
    const text = `the file has no end (${sizeBytes} bytes): it is still being written, or recording or copying it was cut off`;
    throw new RecordingError("NoEnd", text);
  }
  const footerOffset = sizeBytes - magic.byteLength - FOOTER_BYTES;
  const cursor = openCursor(
    tail.subarray(footerOffset - tailOffset),
    `the footer at byte ${footerOffset}`,
    "BadFooter",
  );
  const opcode = cursor.bytes[0];
  cursor.position = 1;
  const contentBytes = readSize(cursor);
  if (opcode !== opcodes.footer || contentBytes !== FOOTER_BYTES - RECORD_HEAD_BYTES) throw badFooter(footerOffset);
  const summaryStart = readOffset(cursor, footerOffset);
  const summaryOffsetStart = readOffset(cursor, footerOffset);
  const summaryCrc = readU32(cursor);
  const at = { footerOffset, tail, tailOffset };
  const isSound =
    summaryStart !== undefined &&
    summaryOffsetStart !== undefined &&
    (summaryOffsetStart === 0 || summaryOffsetStart >= summaryStart);
  if (isSound) return { ...at, summaryStart, summaryOffsetStart, summaryCrc, isSound };
  return { ...at, summaryStart: 0, summaryOffsetStart: 0, summaryCrc: 0, isSound };
}

/** Answers undefined if the offset lies outside of what stands between the two ends of the file. */
function readOffset(cursor: FieldCursor, footerOffset: number): number | undefined {
  const offset = Number(readU64(cursor));
  return offset === 0 || (offset >= magic.byteLength && offset <= footerOffset) ? offset : undefined;
}

export function hasMagic(bytes: Uint8Array, at: number): boolean {
  return at >= 0 && magic.every((byte, index) => bytes[at + index] === byte);
}

/** Whether another file begins there: with its magic and a header. The magic at the end of a file has no header behind it. */
export function hasFileStart(bytes: Uint8Array, at: number): boolean {
  const headerAt = at + magic.byteLength;
  if (headerAt + RECORD_HEAD_BYTES > bytes.byteLength || !hasMagic(bytes, at)) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint8(headerAt) === opcodes.header && view.getUint32(headerAt + 5, true) === 0;
}

export async function isFileStart(
  offset: number,
  { context, reader }: { context: ReadContext; reader: WindowReader },
): Promise<boolean> {
  const lengthBytes = magic.byteLength + RECORD_HEAD_BYTES;
  if (offset + lengthBytes > context.source.sizeBytes) return false;
  return hasFileStart(await reader.fetch(offset, lengthBytes), 0);
}

/** The reason why a file that is followed by another one cannot be given whole. */
export function joinedAt(offset: number): RecordingError {
  const text = `another MCAP file begins at byte ${offset}: files were joined to one, which no reader reads whole. A salvage reads all of them`;
  return new RecordingError("BadFooter", text);
}

/** The reason for which bytes behind a footer are left out. */
export function bytesBehind(footerOffset: number): Reason {
  return { code: "BadFooter", text: `other bytes stand behind the footer at byte ${footerOffset}` };
}

/** The fault of a footer that is not sound. */
export function describeFooter(offset: number): string {
  return `the footer at byte ${offset} names a summary that cannot be there`;
}

const smallestBytes = 2 * magic.byteLength + FOOTER_BYTES;

function badFooter(footerOffset: number): RecordingError {
  const text = `the footer at byte ${footerOffset} does not describe this file; its end is damaged`;
  return new RecordingError("BadFooter", text);
}

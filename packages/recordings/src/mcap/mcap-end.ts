import { openCursor, readSize, readU32 } from "../field-cursor.ts";
import { RecordingFault } from "../reasons.ts";
import type { RandomAccessSource } from "../source.ts";
import { footerBytes, magic, opcodes, recordHeadBytes } from "./opcodes.ts";

export interface McapEnd {
  footerOffset: number;
  /** 0: no summary section. */
  summaryStart: number;
  /** 0: no summary offsets. */
  summaryOffsetStart: number;
  /** 0: not given. */
  summaryCrc: number;
  /** The last bytes of the file, from `tailOffset` on. */
  tail: Uint8Array;
  tailOffset: number;
}

/** Faults with `NoEnd` without the trailing magic, with `BadFooter` when the magic is there but the footer is not. */
export async function readMcapEnd(source: RandomAccessSource, tailBytes: number): Promise<McapEnd> {
  const { sizeBytes } = source;
  const tailOffset = Math.max(0, sizeBytes - tailBytes);
  const tail = await source.read(tailOffset, sizeBytes - tailOffset);
  if (sizeBytes < smallestBytes || !hasMagic(tail, tail.byteLength - magic.byteLength)) {
    const text = `the file has no end (${sizeBytes} bytes): it is still being written, or recording or copying it was cut off`;
    throw new RecordingFault("NoEnd", text);
  }
  const footerOffset = sizeBytes - magic.byteLength - footerBytes;
  const cursor = openCursor(
    tail.subarray(footerOffset - tailOffset),
    `the footer at byte ${footerOffset}`,
    "BadFooter",
  );
  const opcode = cursor.bytes[0];
  cursor.position = 1;
  const contentBytes = readSize(cursor);
  if (opcode !== opcodes.footer || contentBytes !== footerBytes - recordHeadBytes) throw badFooter(footerOffset);
  const summaryStart = readSize(cursor);
  const summaryOffsetStart = readSize(cursor);
  const summaryCrc = readU32(cursor);
  if (!isWithin(summaryStart, footerOffset) || !isWithin(summaryOffsetStart, footerOffset))
    throw badFooter(footerOffset);
  if (summaryOffsetStart !== 0 && summaryOffsetStart < summaryStart) throw badFooter(footerOffset);
  return { footerOffset, summaryStart, summaryOffsetStart, summaryCrc, tail, tailOffset };
}

export function hasMagic(bytes: Uint8Array, at: number): boolean {
  return at >= 0 && magic.every((byte, index) => bytes[at + index] === byte);
}

const smallestBytes = 2 * magic.byteLength + footerBytes;

function isWithin(offset: number, footerOffset: number): boolean {
  return offset === 0 || (offset >= magic.byteLength && offset <= footerOffset);
}

function badFooter(footerOffset: number): RecordingFault {
  const text = `the footer at byte ${footerOffset} does not describe this file; its end is damaged`;
  return new RecordingFault("BadFooter", text);
}

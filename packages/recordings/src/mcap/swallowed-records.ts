import { MESSAGE_HEAD_BYTES, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

/**
 * Whether what stands behind the known fields of a record looks like another record. The format lets records have more fields than are
 * known. But a record whose length is damaged covers the records behind it, and no count would miss those.
 */
export function startsWithRecord(bytes: Uint8Array): boolean {
  if (bytes.byteLength < RECORD_HEAD_BYTES) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const contentBytes = view.getUint32(1, true) + view.getUint32(5, true) * 2 ** 32;
  if (RECORD_HEAD_BYTES + contentBytes > bytes.byteLength) return false;
  const looksRight = shapes[bytes[0]!];
  return looksRight?.(new DataView(view.buffer, view.byteOffset + RECORD_HEAD_BYTES, contentBytes)) ?? false;
}

/** For each opcode of a record in the data section: whether content looks like such a record. */
const shapes: Readonly<Record<number, (content: DataView) => boolean>> = {
  [opcodes.schema]: (content) => fits(content, 2, 2),
  [opcodes.channel]: (content) => fits(content, 4, 2),
  [opcodes.message]: (content) => content.byteLength >= MESSAGE_HEAD_BYTES,
  [opcodes.chunk]: looksLikeChunk,
  [opcodes.messageIndex]: (content) =>
    content.byteLength >= 6 &&
    content.getUint32(2, true) === content.byteLength - 6 &&
    (content.byteLength - 6) % 16 === 0,
  [opcodes.attachment]: (content) => fits(content, 16, 2),
  [opcodes.metadata]: (content) => fits(content, 0, 2),
  [opcodes.dataEnd]: (content) => content.byteLength === 4,
};

/** Whether there is room for so many texts or maps, each behind its length, from a place on. */
function fits(content: DataView, from: number, count: number): boolean {
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    if (at + 4 > content.byteLength) return false;
    at += 4 + content.getUint32(at, true);
  }
  return at <= content.byteLength;
}

/** Whether the compression's name has at most four letters, and the content fills the record. */
function looksLikeChunk(content: DataView): boolean {
  if (content.byteLength < SMALLEST_CHUNK_BYTES) return false;
  const nameBytes = content.getUint32(28, true);
  if (nameBytes > 4 || SMALLEST_CHUNK_BYTES + nameBytes > content.byteLength) return false;
  const storedBytes = content.getUint32(32 + nameBytes, true) + content.getUint32(36 + nameBytes, true) * 2 ** 32;
  return SMALLEST_CHUNK_BYTES + nameBytes + storedBytes <= content.byteLength;
}

/** A chunk starts with times, sizes, a checksum and two lengths. */
const SMALLEST_CHUNK_BYTES = 8 + 8 + 8 + 4 + 4 + 8;

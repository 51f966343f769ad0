/** Where a chunk of a bag stands, by walking the records without our reader. */
export interface BagChunk {
  readonly at: number;
  readonly dataAt: number;
  /** The end of its record; below, of the index data behind it. */
  readonly end: number;
  readonly indexesEnd: number;
  /** By the index data. */
  readonly messageCount: number;
}

export function bagChunksOf(bag: Uint8Array): BagChunk[] {
  const bytes = Buffer.from(bag);
  const chunks: BagChunk[] = [];
  for (let at = 13; at < bytes.byteLength; ) {
    const headerEnd = at + 4 + bytes.readUInt32LE(at);
    const end = headerEnd + 4 + bytes.readUInt32LE(headerEnd);
    const header = bytes.subarray(at + 4, headerEnd);
    const opcode = header[header.indexOf("op=") + 3];
    if (opcode === 5) chunks.push({ at, dataAt: headerEnd + 4, end, indexesEnd: end, messageCount: 0 });
    const last = chunks.at(-1);
    if (opcode === 4 && last) {
      const messageCount = last.messageCount + header.readUInt32LE(header.indexOf("count=") + 6);
      chunks[chunks.length - 1] = { ...last, indexesEnd: end, messageCount };
    }
    at = end;
  }
  return chunks;
}

/** A bag as rosbag leaves it when it is killed while a chunk is open: the sizes of its last chunk are 0, and it has no index. */
export function leaveOpen(bag: Uint8Array, { at, dataAt }: BagChunk, end: number): Buffer {
  const open = Buffer.from(bag.subarray(0, end));
  open.writeUInt32LE(0, open.indexOf("size=", at) + 5);
  open.writeUInt32LE(0, dataAt - 4);
  return open;
}

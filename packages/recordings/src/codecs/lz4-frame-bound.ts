/**
 * An upper bound for what an LZ4 frame decompresses to, from its block headers alone: a block yields
 * at most the frame's block size and at most 255 times its own bytes. `undefined` when it is no frame.
 * Needed because the decoder allocates whatever the frame asks for.
 */
export function boundLz4Frame(frame: Uint8Array): number | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.byteLength < 7 || view.getUint32(0, true) !== frameMagic) return undefined;
  const flags = view.getUint8(4);
  const blockMaxBytes = blockSizes[(view.getUint8(5) >> 4) & 7];
  if (blockMaxBytes === undefined) return undefined;
  const blockTrailerBytes = flags & flag.blockChecksum ? 4 : 0;
  let offset = 7 + (flags & flag.contentSize ? 8 : 0) + (flags & flag.dictionary ? 4 : 0);
  let bound = 0;
  while (offset + 4 <= frame.byteLength) {
    const head = view.getUint32(offset, true);
    if (head === 0) return bound;
    const storedBytes = head & 0x7fffffff;
    const isUncompressed = head >>> 31 === 1;
    bound += isUncompressed ? storedBytes : Math.min(blockMaxBytes, storedBytes * 255 + 64);
    offset += 4 + storedBytes + blockTrailerBytes;
  }
  return undefined;
}

const frameMagic = 0x184d2204;
const flag = { blockChecksum: 0x10, contentSize: 0x08, dictionary: 0x01 } as const;
const blockSizes: Record<number, number> = { 4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20 };

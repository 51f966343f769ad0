/*
 * A format that only tests know: the magic, blocks, and an end. A block is "B", a byte that is 1 if zstd compressed it, its size and its size
 * decompressed (4 bytes each), and its records. A record is its kind, the size of the rest (4 bytes), a channel's number, and either the
 * channel's topic, or a time (8 bytes) and data. The end is "E". Numbers are little-endian.
 */
export const toyMagic: Buffer = Buffer.from("TOYLOG\n", "latin1");

export const BLOCK = 0x42;
export const END = 0x45;
export const BLOCK_HEAD_BYTES = 10;

export const kinds = { topic: 1, message: 2 } as const;
/** The kind and the size. */
export const RECORD_HEAD_BYTES = 5;
/** The head of the record, the channel and the time. */
export const MESSAGE_HEAD_BYTES: number = RECORD_HEAD_BYTES + 9;

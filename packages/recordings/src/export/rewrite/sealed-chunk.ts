/** A chunk as it goes into the written file, its message indexes behind it. */
export interface SealedChunk {
  bytes: Uint8Array;
  /** CRC-32 of the bytes. */
  checksum: number;
  /** Of the chunk's record alone. */
  chunkBytes: number;
  indexesBytes: number;
  storedBytes: number;
  uncompressedBytes: number;
  startNs: bigint;
  endNs: bigint;
  channels: ChannelIndex[];
}

/** The message index of one channel; its record begins `start` bytes behind the beginning of the chunk. */
export interface ChannelIndex {
  channelId: number;
  messageCount: number;
  start: number;
}

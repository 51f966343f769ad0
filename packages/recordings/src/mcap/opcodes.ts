/** spec: MCAP format, "Records". */
export const opcodes = {
  header: 0x01,
  footer: 0x02,
  schema: 0x03,
  channel: 0x04,
  message: 0x05,
  chunk: 0x06,
  messageIndex: 0x07,
  chunkIndex: 0x08,
  attachment: 0x09,
  attachmentIndex: 0x0a,
  statistics: 0x0b,
  metadata: 0x0c,
  metadataIndex: 0x0d,
  summaryOffset: 0x0e,
  dataEnd: 0x0f,
} as const;

export const magic = Uint8Array.of(0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a);

/** The opcode and the length of a record. */
export const RECORD_HEAD_BYTES = 9;

/** The channel, the sequence, the log time and the publish time. */
export const MESSAGE_HEAD_BYTES = 22;

/** The size of a message record without data. */
export const EMPTY_MESSAGE_BYTES = RECORD_HEAD_BYTES + MESSAGE_HEAD_BYTES;

export const FOOTER_BYTES = RECORD_HEAD_BYTES + 20;

/** The size of a chunk's record without data whose compression has an empty name: times, sizes, checksum and two lengths. */
export const LEAST_CHUNK_BYTES: number = RECORD_HEAD_BYTES + 8 + 8 + 8 + 4 + 4 + 8;

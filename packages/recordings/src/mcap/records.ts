import { RecordingError } from "../faults/reasons.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import {
  type FieldCursor,
  readBytes,
  readSize,
  readText,
  readTextMap,
  readTime,
  readU16,
  readU32,
  readU64,
} from "../reading/field-cursor.ts";
import type { AttachmentSummary, MetadataRecord } from "../survey/summary.ts";
import type { Channel, Schema } from "../survey/survey.ts";

/** Each function reads the content of one record, after its opcode and length. */

export function readHeader(cursor: FieldCursor): { profile: string; library: string } {
  return { profile: readText(cursor), library: readText(cursor) };
}

export function readSchema(cursor: FieldCursor): Schema {
  const id = readU16(cursor);
  const name = readText(cursor);
  const encoding = readText(cursor);
  return { id, name, encoding, data: readBytes(cursor, readU32(cursor)) };
}

export function readChannel(cursor: FieldCursor): Channel {
  return {
    id: readU16(cursor),
    schemaId: readU16(cursor),
    topic: readText(cursor),
    messageEncoding: readText(cursor),
    metadata: readTextMap(cursor),
  };
}

/** Reads a channel of a damaged file: if its metadata make no sense, and what is before them does, it has none. Throws as {@link readChannel}. */
export function readDamagedChannel(cursor: FieldCursor): Channel {
  const from = cursor.position;
  try {
    return readChannel(cursor);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    cursor.position = from;
    const [id, schemaId] = [readU16(cursor), readU16(cursor)];
    const [topic, messageEncoding] = [readText(cursor), readText(cursor)];
    const mapBytes = readU32(cursor);
    if (cursor.position + mapBytes !== cursor.bytes.byteLength) throw error;
    cursor.position += mapBytes;
    return { id, schemaId, topic, messageEncoding, metadata: {} };
  }
}

export function readMetadata(cursor: FieldCursor): MetadataRecord {
  return { name: readText(cursor), metadata: readTextMap(cursor) };
}

/** Reads a chunk's record up to its compressed bytes. Times are not checked, because writers leave nonsense in chunks without messages. */
export function readChunkHead(cursor: FieldCursor, offset: number): ChunkHeader & { startNs: bigint; endNs: bigint } {
  const startNs = readU64(cursor);
  const endNs = readU64(cursor);
  const uncompressedBytes = readSize(cursor);
  const crc = readU32(cursor);
  const compression = readText(cursor);
  const storedBytes = readSize(cursor);
  const dataOffset = offset + cursor.position;
  return { offset, startNs, endNs, uncompressedBytes, crc, compression, storedBytes, dataOffset };
}

/** Reads an attachment's record up to its data. The `crc` follows the data. */
export function readAttachmentHead(cursor: FieldCursor, offset: number): Omit<AttachmentSummary, "crc"> {
  const logTimeNs = readTime(cursor);
  const createTimeNs = readTime(cursor);
  const name = readText(cursor);
  const mediaType = readText(cursor);
  const sizeBytes = readSize(cursor);
  return { logTimeNs, createTimeNs, name, mediaType, sizeBytes, dataOffset: offset + cursor.position };
}

export interface Statistics {
  readonly messageCount: number;
  readonly schemaCount: number;
  readonly channelCount: number;
  readonly attachmentCount: number;
  readonly metadataCount: number;
  readonly chunkCount: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly messageCounts: Map<number, number>;
}

export function readStatistics(cursor: FieldCursor): Statistics {
  const statistics: Statistics = {
    messageCount: readSize(cursor),
    schemaCount: readU16(cursor),
    channelCount: readU32(cursor),
    attachmentCount: readU32(cursor),
    metadataCount: readU32(cursor),
    chunkCount: readU32(cursor),
    startNs: readU64(cursor),
    endNs: readU64(cursor),
    messageCounts: new Map(),
  };
  const end = readU32(cursor) + cursor.position;
  while (cursor.position < end) statistics.messageCounts.set(readU16(cursor), readSize(cursor));
  return statistics;
}

/** Where a record stands in the data section. */
export interface RecordSpan {
  readonly offset: number;
  readonly lengthBytes: number;
}

/** A chunk with the message indexes behind it. `lengthBytes` is the size of both. */
export interface ChunkIndex extends RecordSpan {
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** The size of the chunk's record alone. */
  readonly chunkBytes: number;
  /** The channels of the message indexes behind it. It is empty if they are not indexed. */
  readonly channelIds: number[];
  readonly compression: string;
  readonly storedBytes: number;
  readonly uncompressedBytes: number;
}

export function readChunkIndex(cursor: FieldCursor): ChunkIndex {
  const startNs = readU64(cursor);
  const endNs = readU64(cursor);
  const offset = readSize(cursor);
  const chunkBytes = readSize(cursor);
  const channelIds: number[] = [];
  const mapEnd = readU32(cursor) + cursor.position;
  while (cursor.position < mapEnd) {
    channelIds.push(readU16(cursor));
    readSize(cursor);
  }
  const lengthBytes = chunkBytes + readSize(cursor);
  const compression = readText(cursor);
  const storedBytes = readSize(cursor);
  const uncompressedBytes = readSize(cursor);
  return { startNs, endNs, offset, lengthBytes, chunkBytes, channelIds, compression, storedBytes, uncompressedBytes };
}

/** Reads what attachment and metadata indexes both begin with. */
export function readIndexedSpan(cursor: FieldCursor): RecordSpan {
  return { offset: readSize(cursor), lengthBytes: readSize(cursor) };
}

export interface SummaryGroup extends RecordSpan {
  readonly opcode: number;
}

export function readSummaryOffset(cursor: FieldCursor): SummaryGroup {
  const opcode = readBytes(cursor, 1)[0]!;
  return { opcode, offset: readSize(cursor), lengthBytes: readSize(cursor) };
}

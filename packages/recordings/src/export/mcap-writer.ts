import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { type Compression, compress } from "../codecs/compress.ts";
import { opcodes } from "../mcap/opcodes.ts";
import type { AttachmentSummary, MetadataRecord } from "../summary.ts";
import { type ChunkEntry, createChunkBody } from "./chunk-body.ts";
import { createIdTable } from "./id-table.ts";

/**
 * Writes an indexed MCAP file as pieces of bytes; the caller passes them on in the order in which it gets them.
 * Keeps in memory: one chunk, and the indexes of those written.
 */
export interface McapWriter {
  start(profile: string): Uint8Array;
  addMetadata(record: MetadataRecord): Uint8Array;
  /** `head` is the record up to its data; data and checksum follow through `append`. */
  beginAttachment(attachment: AttachmentSummary, head: Uint8Array): Uint8Array;
  append(bytes: Uint8Array): Uint8Array;
  /** Whether the open chunk has room. A chunk without messages has room for any one message. */
  fits(entry: ChunkEntry): boolean;
  addMessage(entry: ChunkEntry): void;
  hasOpenChunk(): boolean;
  flushChunk(): Promise<Uint8Array>;
  end(): Generator<Uint8Array>;
}

export function createMcapWriter(compression: Compression): McapWriter {
  const ids = createIdTable();
  const body = createChunkBody(ids);
  const output = createOutput();
  const chunkIndexes = new McapRecordBuilder();
  const attachmentIndexes = new McapRecordBuilder();
  const metadataIndexes = new McapRecordBuilder();
  const counts = { attachments: 0, metadata: 0, chunks: 0 };

  const flushChunk = async (): Promise<Uint8Array> => {
    const { records, startNs, endNs, indexes } = body.take();
    const compressed = await compress(compression, records);
    const builder = new McapRecordBuilder();
    const chunkLength = builder.writeChunk({
      messageStartTime: startNs,
      messageEndTime: endNs,
      uncompressedSize: BigInt(records.byteLength),
      uncompressedCrc: crc32(records),
      compression,
      records: compressed,
    });
    const messageIndexOffsets = new Map<number, bigint>();
    for (const [channelId, entries] of indexes) {
      messageIndexOffsets.set(channelId, BigInt(output.position() + builder.length));
      builder.writeMessageIndex({ channelId, records: entries });
    }
    chunkIndexes.writeChunkIndex({
      messageStartTime: startNs,
      messageEndTime: endNs,
      chunkStartOffset: BigInt(output.position()),
      chunkLength,
      messageIndexOffsets,
      messageIndexLength: BigInt(builder.length) - chunkLength,
      compression,
      compressedSize: BigInt(compressed.byteLength),
      uncompressedSize: BigInt(records.byteLength),
    });
    counts.chunks += 1;
    return output.append(builder.buffer);
  };

  return {
    start(profile) {
      const builder = new McapRecordBuilder();
      builder.writeMagic();
      builder.writeHeader({ profile, library: "downlink" });
      return output.append(builder.buffer);
    },
    addMetadata({ name, metadata }) {
      const builder = new McapRecordBuilder();
      const length = builder.writeMetadata({ name, metadata: new Map(Object.entries(metadata)) });
      metadataIndexes.writeMetadataIndex({ name, offset: BigInt(output.position()), length });
      counts.metadata += 1;
      return output.append(builder.buffer);
    },
    beginAttachment({ name, mediaType, logTimeNs, createTimeNs, sizeBytes }, head) {
      const times = { logTime: logTimeNs, createTime: createTimeNs };
      const length = BigInt(head.byteLength + sizeBytes + 4);
      const offset = BigInt(output.position());
      attachmentIndexes.writeAttachmentIndex({ name, mediaType, ...times, offset, length, dataSize: BigInt(sizeBytes) });
      counts.attachments += 1;
      return output.append(head);
    },
    append: output.append,
    fits: body.fits,
    addMessage: body.add,
    hasOpenChunk: body.hasMessages,
    flushChunk,
    *end() {
      yield output.endData();
      const groups: [number, Uint8Array][] = [
        [opcodes.schema, ids.encodeSchemas()],
        [opcodes.channel, ids.encodeChannels()],
        [opcodes.statistics, body.encodeStatistics(counts)],
        [opcodes.chunkIndex, chunkIndexes.buffer],
        [opcodes.attachmentIndex, attachmentIndexes.buffer],
        [opcodes.metadataIndex, metadataIndexes.buffer],
      ];
      for (const [opcode, bytes] of groups) if (bytes.byteLength > 0) yield output.addSummaryGroup(opcode, bytes);
      yield output.endFile();
    },
  };
}

/** Keeps the position and the two checksums of a file that is being written. */
function createOutput() {
  let position = 0;
  let crc = 0;
  let summaryStart = 0;
  const offsets = new McapRecordBuilder();

  const append = (bytes: Uint8Array): Uint8Array => {
    position += bytes.byteLength;
    crc = crc32(bytes, crc);
    return bytes;
  };
  const endData = (): Uint8Array => {
    const builder = new McapRecordBuilder();
    builder.writeDataEnd({ dataSectionCrc: crc });
    const bytes = append(builder.buffer);
    summaryStart = position;
    crc = 0;
    return bytes;
  };
  const addSummaryGroup = (groupOpcode: number, bytes: Uint8Array): Uint8Array => {
    const groupStart = BigInt(position);
    offsets.writeSummaryOffset({ groupOpcode, groupStart, groupLength: BigInt(bytes.byteLength) });
    return append(bytes);
  };
  const endFile = (): Uint8Array => {
    const builder = new McapRecordBuilder();
    builder.writeFooter({ summaryStart: BigInt(summaryStart), summaryOffsetStart: BigInt(position), summaryCrc: 0 });
    const footer = Buffer.concat([offsets.buffer, builder.buffer]);
    // spec: MCAP "Footer": the checksum covers everything from the summary's start up to itself.
    footer.writeUInt32LE(crc32(footer.subarray(0, -4), crc), footer.byteLength - 4);
    builder.reset();
    builder.writeMagic();
    return append(Buffer.concat([footer, builder.buffer]));
  };
  return { position: () => position, append, endData, addSummaryGroup, endFile };
}

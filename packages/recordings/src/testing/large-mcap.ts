import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import type { RandomAccessSource } from "../source.ts";
import { sparseSource } from "./sparse-source.ts";

export interface LargeMcapSpec {
  chunkCount: number;
  /** Of each chunk, stored without compression. */
  chunkBytes: number;
  channelCount: number;
  messagesPerChannel: number;
  /** False: every chunk has its header and message indexes, but there is no summary. */
  isIndexed: boolean;
}

/** An MCAP file of any size whose chunks are holes: for readers that must not touch them. */
export function makeLargeMcap(spec: LargeMcapSpec): RandomAccessSource {
  const { chunkCount, chunkBytes, channelCount, isIndexed } = spec;
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "large" });
  writeChannels(builder, channelCount);
  const pieces = [{ offset: 0, bytes: builder.buffer }];
  let position = builder.length;
  const indexes = new McapRecordBuilder();
  for (let chunk = 0; chunk < chunkCount; chunk += 1) {
    const written = writeChunk(spec, { chunk, position });
    if (!isIndexed) pieces.push(...written.pieces);
    indexes.writeChunkIndex(written.index);
    position = written.end;
  }
  const bytes = writeEnd(spec, { position, chunkIndexes: indexes.buffer });
  return sparseSource(position + bytes.byteLength, [...pieces, { offset: position, bytes }]);

  function writeChunk(_: LargeMcapSpec, { chunk, position: start }: { chunk: number; position: number }) {
    const head = chunkHead(chunk, chunkBytes);
    const indexOffset = start + head.byteLength + chunkBytes;
    const tail = new McapRecordBuilder();
    const messageIndexOffsets = new Map<number, bigint>();
    for (let id = 1; id <= channelCount; id += 1) {
      messageIndexOffsets.set(id, BigInt(indexOffset + tail.length));
      if (!isIndexed || chunk === 0) tail.writeMessageIndex({ channelId: id, records: entriesOf(spec, chunk) });
    }
    const end = indexOffset + tail.length;
    const index = {
      messageStartTime: BigInt(chunk) * chunkNs,
      messageEndTime: BigInt(chunk) * chunkNs + BigInt(spec.messagesPerChannel - 1),
      chunkStartOffset: BigInt(start),
      chunkLength: BigInt(head.byteLength + chunkBytes),
      messageIndexOffsets,
      messageIndexLength: BigInt(tail.length),
      compression: "",
      compressedSize: BigInt(chunkBytes),
      uncompressedSize: BigInt(chunkBytes),
    };
    const written = [
      { offset: start, bytes: head },
      { offset: indexOffset, bytes: tail.buffer },
    ];
    return { pieces: written, index, end };
  }

  function chunkHead(chunk: number, records: number): Uint8Array {
    const head = new McapRecordBuilder();
    const messageStartTime = BigInt(chunk) * chunkNs;
    const messageEndTime = messageStartTime + BigInt(spec.messagesPerChannel - 1);
    const sizes = { uncompressedSize: BigInt(records), uncompressedCrc: 0, compression: "" };
    head.writeChunk({ messageStartTime, messageEndTime, ...sizes, records: new Uint8Array(0) });
    const bytes = Buffer.from(head.buffer);
    bytes.writeBigUInt64LE(BigInt(bytes.byteLength - 9 + records), 1);
    bytes.writeBigUInt64LE(BigInt(records), bytes.byteLength - 8);
    return bytes;
  }
}

const chunkNs = 1_000_000_000n;

function entriesOf({ messagesPerChannel }: LargeMcapSpec, chunk: number): [bigint, bigint][] {
  return Array.from({ length: messagesPerChannel }, (_, index) => [BigInt(chunk) * chunkNs + BigInt(index), 0n]);
}

function writeChannels(builder: McapRecordBuilder, channelCount: number): void {
  builder.writeSchema({ id: 1, name: "Large", encoding: "jsonschema", data: Buffer.from("{}") });
  for (let id = 1; id <= channelCount; id += 1) {
    builder.writeChannel({ id, schemaId: 1, topic: `/topic/${id}`, messageEncoding: "json", metadata: new Map() });
  }
}

function writeEnd(spec: LargeMcapSpec, { position, chunkIndexes }: { position: number; chunkIndexes: Uint8Array }): Uint8Array {
  const dataEnd = new McapRecordBuilder();
  dataEnd.writeDataEnd({ dataSectionCrc: 0 });
  const summaryStart = position + dataEnd.length;
  const descriptions = new McapRecordBuilder();
  writeChannels(descriptions, spec.channelCount);
  descriptions.writeStatistics(statisticsOf(spec));
  const summary = spec.isIndexed ? Buffer.concat([descriptions.buffer, chunkIndexes]) : Buffer.alloc(0);
  const offsets = new McapRecordBuilder();
  const groupStart = BigInt(summaryStart);
  const groupLength = BigInt(descriptions.length);
  if (spec.isIndexed) {
    // One group for all descriptions: readers go by position and length.
    offsets.writeSummaryOffset({ groupOpcode: 0x0b, groupStart, groupLength });
    const start = groupStart + groupLength;
    offsets.writeSummaryOffset({ groupOpcode: 0x08, groupStart: start, groupLength: BigInt(chunkIndexes.byteLength) });
  }
  const footer = new McapRecordBuilder();
  const summaryOffsetStart = spec.isIndexed ? BigInt(summaryStart + summary.byteLength) : 0n;
  footer.writeFooter({ summaryStart: spec.isIndexed ? groupStart : 0n, summaryOffsetStart, summaryCrc: 0 });
  const section = Buffer.concat([summary, offsets.buffer, footer.buffer]);
  section.writeUInt32LE(crc32(section.subarray(0, -4)), section.byteLength - 4);
  const magic = new McapRecordBuilder();
  magic.writeMagic();
  return Buffer.concat([dataEnd.buffer, section, magic.buffer]);
}

function statisticsOf({ chunkCount, channelCount, messagesPerChannel }: LargeMcapSpec) {
  const perChannel = BigInt(chunkCount * messagesPerChannel);
  const channelMessageCounts = new Map<number, bigint>();
  for (let id = 1; id <= channelCount; id += 1) channelMessageCounts.set(id, perChannel);
  return {
    messageCount: perChannel * BigInt(channelCount),
    schemaCount: 1,
    channelCount,
    attachmentCount: 0,
    metadataCount: 0,
    chunkCount,
    messageStartTime: 0n,
    messageEndTime: BigInt(chunkCount - 1) * chunkNs + BigInt(messagesPerChannel - 1),
    channelMessageCounts,
  };
}

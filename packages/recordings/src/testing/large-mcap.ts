import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { announcePayload } from "../export/write-mcap/mcap-output.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import { sparseSource } from "./sparse-source.ts";

export interface LargeMcapSpec {
  readonly chunkCount: number;
  /** The size of each chunk, stored without compression. */
  readonly chunkBytes: number;
  readonly channelCount: number;
  /** True: a summary, and everything before it is a hole. False: chunk headers and message indexes, but no summary. */
  readonly isIndexed: boolean;
}

/** The number of messages of each channel in each chunk, which is one second of a recording. */
export const MESSAGES_PER_CHUNK = 10;

/** An MCAP file of any size whose messages are holes: for readers that must not touch them. */
export function makeLargeMcap(spec: LargeMcapSpec): RandomAccessSource {
  const pieces = [{ offset: 0, bytes: headOf(spec) }];
  let position = pieces[0]!.bytes.byteLength;
  const chunkIndexes = new McapRecordBuilder();
  for (let chunk = 0; chunk < spec.chunkCount; chunk += 1) {
    const head = chunkHead(spec, chunk);
    const indexOffset = position + head.byteLength + spec.chunkBytes;
    if (spec.isIndexed) chunkIndexes.writeChunkIndex(chunkIndexOf(spec, { chunk, position, indexOffset }));
    else pieces.push({ offset: position, bytes: head }, { offset: indexOffset, bytes: messageIndexes(spec, chunk) });
    position = indexOffset + spec.channelCount * MESSAGE_INDEX_BYTES;
  }
  const bytes = spec.isIndexed
    ? summaryOf(spec, { position, chunkIndexes: chunkIndexes.buffer })
    : endOf(new Uint8Array(0), 0);
  return sparseSource(position + bytes.byteLength, [...pieces, { offset: position, bytes }]);
}

const MESSAGE_INDEX_BYTES = 9 + 6 + 16 * MESSAGES_PER_CHUNK;
const DATA_END_BYTES = 13;

function spanOf(chunk: number): { messageStartTime: bigint; messageEndTime: bigint } {
  const messageStartTime = BigInt(chunk) * 1_000_000_000n;
  return { messageStartTime, messageEndTime: messageStartTime + BigInt(MESSAGES_PER_CHUNK - 1) };
}

function headOf(spec: LargeMcapSpec): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "large" });
  writeChannels(builder, spec);
  return builder.buffer;
}

function writeChannels(builder: McapRecordBuilder, { channelCount }: LargeMcapSpec): void {
  builder.writeSchema({ id: 1, name: "Large", encoding: "jsonschema", data: Buffer.from("{}") });
  for (let id = 1; id <= channelCount; id += 1) {
    builder.writeChannel({ id, schemaId: 1, topic: `/topic/${id}`, messageEncoding: "json", metadata: new Map() });
  }
}

/** The builder wants the chunk's bytes; here its lengths are set without them. */
function chunkHead({ chunkBytes }: LargeMcapSpec, chunk: number): Uint8Array {
  const builder = new McapRecordBuilder();
  const sizes = { uncompressedSize: BigInt(chunkBytes), uncompressedCrc: 0, compression: "" };
  builder.writeChunk({ ...spanOf(chunk), ...sizes, records: new Uint8Array(0) });
  return announcePayload(builder.buffer, chunkBytes);
}

function messageIndexes({ channelCount }: LargeMcapSpec, chunk: number): Uint8Array {
  const builder = new McapRecordBuilder();
  const { messageStartTime } = spanOf(chunk);
  const records = Array.from({ length: MESSAGES_PER_CHUNK }, (_, index): [bigint, bigint] => [
    messageStartTime + BigInt(index),
    0n,
  ]);
  for (let channelId = 1; channelId <= channelCount; channelId += 1) builder.writeMessageIndex({ channelId, records });
  return builder.buffer;
}

function chunkIndexOf(spec: LargeMcapSpec, at: { chunk: number; position: number; indexOffset: number }) {
  const messageIndexOffsets = new Map<number, bigint>();
  for (let index = 0; index < spec.channelCount; index += 1) {
    messageIndexOffsets.set(index + 1, BigInt(at.indexOffset + index * MESSAGE_INDEX_BYTES));
  }
  return {
    ...spanOf(at.chunk),
    chunkStartOffset: BigInt(at.position),
    chunkLength: BigInt(at.indexOffset - at.position),
    messageIndexOffsets,
    messageIndexLength: BigInt(spec.channelCount * MESSAGE_INDEX_BYTES),
    compression: "",
    compressedSize: BigInt(spec.chunkBytes),
    uncompressedSize: BigInt(spec.chunkBytes),
  };
}

function summaryOf(
  spec: LargeMcapSpec,
  { position, chunkIndexes }: { position: number; chunkIndexes: Uint8Array },
): Uint8Array {
  const builder = new McapRecordBuilder();
  writeChannels(builder, spec);
  builder.writeStatistics(statisticsOf(spec));
  const described = builder.buffer;
  const groupStart = BigInt(position + DATA_END_BYTES);
  const groupLength = BigInt(described.byteLength);
  builder.reset();
  // There is one group for everything but the chunk indexes: a reader uses only position and length.
  builder.writeSummaryOffset({ groupOpcode: 0x0b, groupStart, groupLength });
  const chunkIndexGroup = { groupStart: groupStart + groupLength, groupLength: BigInt(chunkIndexes.byteLength) };
  builder.writeSummaryOffset({ groupOpcode: 0x08, ...chunkIndexGroup });
  const section = Buffer.concat([described, chunkIndexes, builder.buffer]);
  return endOf(section, Number(groupStart), Number(groupStart) + described.byteLength + chunkIndexes.byteLength);
}

function endOf(section: Uint8Array, summaryStart: number, summaryOffsetStart = 0): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeFooter({
    summaryStart: BigInt(summaryStart),
    summaryOffsetStart: BigInt(summaryOffsetStart),
    summaryCrc: 0,
  });
  const summary = Buffer.concat([section, builder.buffer]);
  summary.writeUInt32LE(crc32(summary.subarray(0, -4)), summary.byteLength - 4);
  builder.reset();
  builder.writeMagic();
  const magic = builder.buffer;
  builder.reset();
  builder.writeDataEnd({ dataSectionCrc: 0 });
  return Buffer.concat([builder.buffer, summary, magic]);
}

function statisticsOf({ chunkCount, channelCount }: LargeMcapSpec) {
  const perChannel = BigInt(chunkCount * MESSAGES_PER_CHUNK);
  return {
    messageCount: perChannel * BigInt(channelCount),
    schemaCount: 1,
    channelCount,
    attachmentCount: 0,
    metadataCount: 0,
    chunkCount,
    messageStartTime: 0n,
    messageEndTime: spanOf(chunkCount - 1).messageEndTime,
    channelMessageCounts: new Map(Array.from({ length: channelCount }, (_, index) => [index + 1, perChannel])),
  };
}

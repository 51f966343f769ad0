import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { nextRound } from "../../codecs/one-by-one.ts";
import { opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import type { AttachmentSummary, MetadataRecord } from "../../survey/summary.ts";
import { extendSpan } from "../../survey/survey.ts";
import type { IdTable } from "../plan/id-table.ts";
import type { SealedChunk } from "../rewrite/chunk-builder.ts";

/** The numbers of a chunk for its index and the statistics. */
export type ChunkFacts = Omit<SealedChunk, "bytes" | "checksum">;

export interface WrittenChunks {
  bytes: Uint8Array;
  /** CRC-32 of the bytes. */
  checksum: number;
  chunks: readonly ChunkFacts[];
}

/**
 * Writes an indexed MCAP file as pieces of bytes; the caller passes them on in the order in which it gets them.
 * Keeps in memory: the indexes of the chunks that were written.
 */
export interface McapWriter {
  start(profile: string): Uint8Array;
  addMetadata(record: MetadataRecord): Uint8Array;
  /** `head` is the record up to its data; data and checksum follow through `append`. */
  beginAttachment(attachment: AttachmentSummary, head: Uint8Array): Uint8Array;
  append(bytes: Uint8Array): Uint8Array;
  /** Chunks that stand one behind the other in `bytes`, each with its message indexes behind it; or the rest of the last. */
  addChunks(chunks: WrittenChunks): AsyncGenerator<Uint8Array>;
  end(): Generator<Uint8Array>;
}

export function createMcapWriter(ids: IdTable, compression: string): McapWriter {
  const output = createMcapOutput();
  const indexes = {
    chunks: new McapRecordBuilder(),
    attachments: new McapRecordBuilder(),
    metadata: new McapRecordBuilder(),
  };
  const counts = { attachmentCount: 0, metadataCount: 0, chunkCount: 0 };
  const messages = createTally();

  const start = (profile: string): Uint8Array =>
    output.append(
      encode((builder) => {
        builder.writeMagic();
        builder.writeHeader({ profile, library: "downlink" });
      }),
    );
  const addMetadata = ({ name, metadata }: MetadataRecord): Uint8Array => {
    const bytes = encode((builder) => builder.writeMetadata({ name, metadata: new Map(Object.entries(metadata)) }));
    const offset = BigInt(output.position());
    indexes.metadata.writeMetadataIndex({ name, offset, length: BigInt(bytes.byteLength) });
    counts.metadataCount += 1;
    return output.append(bytes);
  };
  const beginAttachment = (attachment: AttachmentSummary, head: Uint8Array): Uint8Array => {
    const { name, mediaType, logTimeNs, createTimeNs, sizeBytes } = attachment;
    indexes.attachments.writeAttachmentIndex({
      name,
      mediaType,
      logTime: logTimeNs,
      createTime: createTimeNs,
      offset: BigInt(output.position()),
      length: BigInt(head.byteLength + sizeBytes + 4),
      dataSize: BigInt(sizeBytes),
    });
    counts.attachmentCount += 1;
    return output.append(head);
  };
  async function* introduce({ channels }: ChunkFacts): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < channels.length; at += introducedAtOnce) {
      if (at > 0) await nextRound();
      const records = ids.introduce(channels.slice(at, at + introducedAtOnce).map(({ channelId }) => channelId));
      if (records.byteLength > 0) yield output.append(records);
    }
  }
  async function* addChunks({ bytes, checksum, chunks }: WrittenChunks): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield* introduce(chunk);
    let start = output.position();
    for (const chunk of chunks) {
      if (chunk.channels.length > introducedAtOnce) await nextRound();
      indexes.chunks.writeChunkIndex(toChunkIndex(chunk, { start, compression }));
      messages.add(chunk);
      counts.chunkCount += 1;
      start += chunk.chunkBytes + chunk.indexesBytes;
    }
    yield output.append(bytes, checksum);
  }
  function* end(): Generator<Uint8Array> {
    yield output.endData();
    const statistics = { ...counts, ...messages.sums(), schemaCount: ids.schemaCount, channelCount: ids.channelCount };
    const groups: [number, Uint8Array][] = [
      [opcodes.schema, ids.encodeSchemas()],
      [opcodes.channel, ids.encodeChannels()],
      [opcodes.statistics, encode((builder) => builder.writeStatistics(statistics))],
      [opcodes.chunkIndex, indexes.chunks.buffer],
      [opcodes.attachmentIndex, indexes.attachments.buffer],
      [opcodes.metadataIndex, indexes.metadata.buffer],
    ];
    for (const [opcode, bytes] of groups) if (bytes.byteLength > 0) yield output.addSummaryGroup(opcode, bytes);
    yield output.endFile();
  }
  return { start, addMetadata, beginAttachment, append: (bytes) => output.append(bytes), addChunks, end };
}

/** So that thousands of new channels hold up nothing else. */
const introducedAtOnce = 1024;

function toChunkIndex(chunk: ChunkFacts, { start, compression }: { start: number; compression: string }) {
  return {
    messageStartTime: chunk.startNs,
    messageEndTime: chunk.endNs,
    chunkStartOffset: BigInt(start),
    chunkLength: BigInt(chunk.chunkBytes),
    messageIndexOffsets: new Map(chunk.channels.map((index) => [index.channelId, BigInt(start + index.start)])),
    messageIndexLength: BigInt(chunk.indexesBytes),
    compression,
    compressedSize: BigInt(chunk.storedBytes),
    uncompressedSize: BigInt(chunk.uncompressedBytes),
  };
}

function createTally() {
  const perChannel = new Map<number, bigint>();
  const span: { startNs?: bigint; endNs?: bigint } = {};
  let messageCount = 0n;
  return {
    add({ startNs, endNs, channels }: ChunkFacts): void {
      extendSpan(span, startNs, endNs);
      for (const { channelId, messageCount: count } of channels) {
        messageCount += BigInt(count);
        perChannel.set(channelId, (perChannel.get(channelId) ?? 0n) + BigInt(count));
      }
    },
    sums: () => ({
      messageCount,
      messageStartTime: span.startNs ?? 0n,
      messageEndTime: span.endNs ?? 0n,
      channelMessageCounts: perChannel,
    }),
  };
}

/** Position and checksums of a file that is being written. Everything returns the bytes to pass on. */
interface McapOutput {
  position(): number;
  /** `checksum`: CRC-32 of the bytes, where somebody has computed it already. */
  append(bytes: Uint8Array, checksum?: number): Uint8Array;
  endData(): Uint8Array;
  addSummaryGroup(opcode: number, bytes: Uint8Array): Uint8Array;
  endFile(): Uint8Array;
}

function createMcapOutput(): McapOutput {
  let position = 0;
  let crc = 0;
  let summaryStart = 0;
  const offsets = new McapRecordBuilder();

  const append = (bytes: Uint8Array, checksum?: number): Uint8Array => {
    position += bytes.byteLength;
    crc = checksum === undefined ? crc32(bytes, crc) : combineChecksums(crc, checksum, bytes.byteLength);
    return bytes;
  };
  const endData = (): Uint8Array => {
    const bytes = append(encode((builder) => builder.writeDataEnd({ dataSectionCrc: crc })));
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
    const places = { summaryStart: BigInt(summaryStart), summaryOffsetStart: BigInt(position) };
    const footer = encode((builder) => builder.writeFooter({ ...places, summaryCrc: 0 }));
    const end = Buffer.concat([offsets.buffer, footer]);
    // spec: MCAP "Footer": the checksum covers everything from the summary's start up to itself.
    end.writeUInt32LE(crc32(end.subarray(0, -4), crc), end.byteLength - 4);
    return append(Buffer.concat([end, encode((builder) => builder.writeMagic())]));
  };
  return { position: () => position, append, endData, addSummaryGroup, endFile };
}

/**
 * Turns a record that was encoded with an empty payload at its end into the beginning of one with a payload, which then
 * need not be in memory: sets the payload's length, the last field, and the record's. `trailerBytes` follow the payload.
 */
export function announcePayload(emptyRecord: Uint8Array, payloadBytes: number, trailerBytes = 0): Uint8Array {
  const head = Buffer.from(emptyRecord).subarray(0, emptyRecord.byteLength - trailerBytes);
  head.writeBigUInt64LE(BigInt(head.byteLength - recordHeadBytes + payloadBytes + trailerBytes), 1);
  head.writeBigUInt64LE(BigInt(payloadBytes), head.byteLength - 8);
  return head;
}

/** The bytes of a few records. */
export function encode(write: (builder: McapRecordBuilder) => void): Uint8Array {
  const builder = new McapRecordBuilder();
  write(builder);
  return builder.buffer;
}

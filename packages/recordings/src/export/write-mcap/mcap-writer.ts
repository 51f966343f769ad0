import { McapRecordBuilder } from "@mcap/core";
import { nextRound } from "../../codecs/one-by-one.ts";
import { opcodes } from "../../mcap/opcodes.ts";
import type { AttachmentSummary, MetadataRecord } from "../../survey/summary.ts";
import { extendSpan } from "../../survey/survey.ts";
import type { IdTable } from "../plan/id-table.ts";
import type { SealedChunk } from "../rewrite/chunk-builder.ts";
import { encodeRecords, McapOutput } from "./mcap-output.ts";

/** The numbers of a chunk for its index and the statistics. */
export type ChunkFacts = Omit<SealedChunk, "bytes" | "checksum">;

export interface WrittenChunks {
  readonly bytes: Uint8Array;
  /** CRC-32 of the bytes. */
  readonly checksum: number;
  readonly chunks: readonly ChunkFacts[];
}

/**
 * Writes an indexed MCAP file as pieces of bytes. The caller passes them on in the order in which it gets them. The indexes of the written
 * chunks are kept in memory.
 *
 * We do not use `McapWriter`: it compresses synchronously, computes checksums in JavaScript, cannot pass a chunk on and cannot write
 * attachments in pieces. Schemas and channels stand outside of chunks, before the first chunk that needs them; those in chunks that are
 * passed on repeat them.
 */
export class McapWriter {
  readonly #ids: IdTable;
  readonly #compression: string;
  readonly #output = new McapOutput();
  readonly #chunkIndexes = new McapRecordBuilder();
  readonly #attachmentIndexes = new McapRecordBuilder();
  readonly #metadataIndexes = new McapRecordBuilder();
  readonly #counts = { attachmentCount: 0, metadataCount: 0, chunkCount: 0 };
  readonly #messages = new MessageStatistics();

  constructor(ids: IdTable, compression: string) {
    this.#ids = ids;
    this.#compression = compression;
  }

  start(profile: string): Uint8Array {
    const bytes = encodeRecords((builder) => {
      builder.writeMagic();
      builder.writeHeader({ profile, library: "downlink" });
    });
    return this.#output.append(bytes);
  }

  addMetadata({ name, metadata }: MetadataRecord): Uint8Array {
    const record = { name, metadata: new Map(Object.entries(metadata)) };
    const bytes = encodeRecords((builder) => builder.writeMetadata(record));
    const offset = BigInt(this.#output.position);
    this.#metadataIndexes.writeMetadataIndex({ name, offset, length: BigInt(bytes.byteLength) });
    this.#counts.metadataCount += 1;
    return this.#output.append(bytes);
  }

  /** `head` is the record up to its data. The data and the checksum follow through `append`. */
  beginAttachment(attachment: AttachmentSummary, head: Uint8Array): Uint8Array {
    const { name, mediaType, logTimeNs, createTimeNs, sizeBytes } = attachment;
    this.#attachmentIndexes.writeAttachmentIndex({
      name,
      mediaType,
      logTime: logTimeNs,
      createTime: createTimeNs,
      offset: BigInt(this.#output.position),
      length: BigInt(head.byteLength + sizeBytes + 4),
      dataSize: BigInt(sizeBytes),
    });
    this.#counts.attachmentCount += 1;
    return this.#output.append(head);
  }

  append(bytes: Uint8Array): Uint8Array {
    return this.#output.append(bytes);
  }

  /** Adds chunks that stand one behind the other in `bytes`, each with its message indexes behind it, or the rest of the last chunk. */
  async *addChunks({ bytes, checksum, chunks }: WrittenChunks): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield* this.#introduce(chunk);
    const compression = this.#compression;
    let start = this.#output.position;
    for (const chunk of chunks) {
      if (chunk.channels.length > INTRODUCED_AT_ONCE) await nextRound();
      this.#chunkIndexes.writeChunkIndex(toChunkIndex(chunk, { start, compression }));
      this.#messages.add(chunk);
      this.#counts.chunkCount += 1;
      start += chunk.chunkBytes + chunk.indexesBytes;
    }
    yield this.#output.append(bytes, checksum);
  }

  *end(): Generator<Uint8Array> {
    yield this.#output.endData();
    for (const [opcode, bytes] of this.#summaryGroups())
      if (bytes.byteLength > 0) yield this.#output.addSummaryGroup(opcode, bytes);
    yield this.#output.endFile();
  }

  /** Writes the records of those channels of a chunk that were not written yet. */
  async *#introduce({ channels }: ChunkFacts): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < channels.length; at += INTRODUCED_AT_ONCE) {
      if (at > 0) await nextRound();
      const some = channels.slice(at, at + INTRODUCED_AT_ONCE);
      const records = this.#ids.introduce(some.map(({ channelId }) => channelId));
      if (records.byteLength > 0) yield this.#output.append(records);
    }
  }

  #summaryGroups(): [opcode: number, bytes: Uint8Array][] {
    const { schemaCount, channelCount } = this.#ids;
    const statistics = { ...this.#counts, ...this.#messages.toRecord(), schemaCount, channelCount };
    return [
      [opcodes.schema, this.#ids.encodeSchemas()],
      [opcodes.channel, this.#ids.encodeChannels()],
      [opcodes.statistics, encodeRecords((builder) => builder.writeStatistics(statistics))],
      [opcodes.chunkIndex, this.#chunkIndexes.buffer],
      [opcodes.attachmentIndex, this.#attachmentIndexes.buffer],
      [opcodes.metadataIndex, this.#metadataIndexes.buffer],
    ];
  }
}

/** Channels are introduced in turns, so that thousands of new ones do not hold up anything else. */
const INTRODUCED_AT_ONCE = 1024;

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

/** Counts the messages of the written file for its statistics. */
class MessageStatistics {
  readonly #perChannel = new Map<number, bigint>();
  readonly #span: { startNs?: bigint; endNs?: bigint } = {};
  #messageCount = 0n;

  add({ startNs, endNs, channels }: ChunkFacts): void {
    extendSpan(this.#span, startNs, endNs);
    for (const { channelId, messageCount } of channels) {
      const count = BigInt(messageCount);
      this.#messageCount += count;
      this.#perChannel.set(channelId, (this.#perChannel.get(channelId) ?? 0n) + count);
    }
  }

  toRecord() {
    return {
      messageCount: this.#messageCount,
      messageStartTime: this.#span.startNs ?? 0n,
      messageEndTime: this.#span.endNs ?? 0n,
      channelMessageCounts: this.#perChannel,
    };
  }
}

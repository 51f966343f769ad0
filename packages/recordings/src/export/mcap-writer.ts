import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { type Compression, compress } from "../codecs/compress.ts";
import { opcodes } from "../mcap/opcodes.ts";
import type { AttachmentSummary, MetadataRecord } from "../summary.ts";
import {
  addMessage,
  type ChunkEntry,
  createChunkBody,
  encodeStatistics,
  hasMessages,
  hasRoom,
  takeChunk,
} from "./chunk-body.ts";
import { createIdTable } from "./id-table.ts";
import { announcePayload, createMcapOutput, encode } from "./mcap-output.ts";

/**
 * Writes an indexed MCAP file as pieces of bytes; the caller passes them on in the order in which it gets them.
 * Keeps in memory: one chunk, and the indexes of those written.
 */
export class McapWriter {
  readonly #compression: Compression;
  readonly #ids = createIdTable();
  readonly #body = createChunkBody(this.#ids);
  readonly #output = createMcapOutput();
  readonly #chunkIndexes = new McapRecordBuilder();
  readonly #attachmentIndexes = new McapRecordBuilder();
  readonly #metadataIndexes = new McapRecordBuilder();
  readonly #counts = { attachmentCount: 0, metadataCount: 0, chunkCount: 0 };

  constructor(compression: Compression) {
    this.#compression = compression;
  }

  start(profile: string): Uint8Array {
    const bytes = encode((builder) => {
      builder.writeMagic();
      builder.writeHeader({ profile, library: "downlink" });
    });
    return this.#output.append(bytes);
  }

  addMetadata({ name, metadata }: MetadataRecord): Uint8Array {
    const bytes = encode((builder) => builder.writeMetadata({ name, metadata: new Map(Object.entries(metadata)) }));
    const offset = BigInt(this.#output.position());
    this.#metadataIndexes.writeMetadataIndex({ name, offset, length: BigInt(bytes.byteLength) });
    this.#counts.metadataCount += 1;
    return this.#output.append(bytes);
  }

  /** `head` is the record up to its data; data and checksum follow through `append`. */
  beginAttachment(attachment: AttachmentSummary, head: Uint8Array): Uint8Array {
    const { name, mediaType, logTimeNs, createTimeNs, sizeBytes } = attachment;
    this.#attachmentIndexes.writeAttachmentIndex({
      name,
      mediaType,
      logTime: logTimeNs,
      createTime: createTimeNs,
      offset: BigInt(this.#output.position()),
      length: BigInt(head.byteLength + sizeBytes + 4),
      dataSize: BigInt(sizeBytes),
    });
    this.#counts.attachmentCount += 1;
    return this.#output.append(head);
  }

  append(bytes: Uint8Array): Uint8Array {
    return this.#output.append(bytes);
  }

  /** Whether the open chunk takes another message; if not, it must be flushed before. */
  hasRoom(entry: ChunkEntry): boolean {
    return hasRoom(this.#body, entry);
  }

  addMessage(entry: ChunkEntry): void {
    addMessage(this.#body, entry);
  }

  hasOpenChunk(): boolean {
    return hasMessages(this.#body);
  }

  /** The chunk and its indexes. Pieces, because joining them would copy every byte once more. */
  async flushChunk(): Promise<Uint8Array[]> {
    const { records, startNs, endNs, indexes } = takeChunk(this.#body);
    const compressed = await compress(this.#compression, records);
    const about = {
      messageStartTime: startNs,
      messageEndTime: endNs,
      uncompressedSize: BigInt(records.byteLength),
      compression: this.#compression,
    };
    const chunk = { ...about, uncompressedCrc: crc32(records), records: new Uint8Array(0) };
    const head = announcePayload(
      encode((builder) => builder.writeChunk(chunk)),
      compressed.byteLength,
    );
    const chunkBytes = head.byteLength + compressed.byteLength;
    const chunkStart = this.#output.position();
    const builder = new McapRecordBuilder();
    const messageIndexOffsets = new Map<number, bigint>();
    for (const [channelId, entries] of indexes) {
      messageIndexOffsets.set(channelId, BigInt(chunkStart + chunkBytes + builder.length));
      builder.writeMessageIndex({ channelId, records: entries });
    }
    this.#chunkIndexes.writeChunkIndex({
      ...about,
      chunkStartOffset: BigInt(chunkStart),
      chunkLength: BigInt(chunkBytes),
      messageIndexOffsets,
      messageIndexLength: BigInt(builder.length),
      compressedSize: BigInt(compressed.byteLength),
    });
    this.#counts.chunkCount += 1;
    return [head, compressed, builder.buffer].map(this.#output.append);
  }

  *end(): Generator<Uint8Array> {
    yield this.#output.endData();
    const groups: [number, Uint8Array][] = [
      [opcodes.schema, this.#ids.encodeSchemas()],
      [opcodes.channel, this.#ids.encodeChannels()],
      [opcodes.statistics, encodeStatistics(this.#body, this.#counts)],
      [opcodes.chunkIndex, this.#chunkIndexes.buffer],
      [opcodes.attachmentIndex, this.#attachmentIndexes.buffer],
      [opcodes.metadataIndex, this.#metadataIndexes.buffer],
    ];
    for (const [opcode, bytes] of groups) if (bytes.byteLength > 0) yield this.#output.addSummaryGroup(opcode, bytes);
    yield this.#output.endFile();
  }
}

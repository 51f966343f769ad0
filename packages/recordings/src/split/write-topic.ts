import { crc32 } from "node:zlib";
import type { Compression } from "../codecs/compress.ts";
import { compressPieces } from "../codecs/compress-pieces.ts";
import { Decompressor } from "../codecs/decompress.ts";
import { nextRound } from "../codecs/one-by-one.ts";
import type { IdTable } from "../export/plan/id-table.ts";
import { encodeChunkHead } from "../export/rewrite/chunk-head.ts";
import { channelIdAt, type Fragment, FragmentBuilder, LOG_TIME_OFFSET } from "../export/rewrite/fragment.ts";
import type { RewriteLane } from "../export/rewrite/rewrite-pool.ts";
import { encodeRecords } from "../export/write-mcap/mcap-output.ts";
import { McapWriter } from "../export/write-mcap/mcap-writer.ts";
import { EMPTY_MESSAGE_BYTES, RECORD_HEAD_BYTES } from "../mcap/opcodes.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { freeOwn } from "../memory/free-memory.ts";
import type { MetadataRecord } from "../survey/summary.ts";
import { type BlockHead, SPILL_COMPRESSION, type SpillFile } from "./spill-file.ts";

/** A chunk is full at this size. It suits reads of ranges: one request for some of them, and little too much at both ends. */
const FULL_CHUNK_BYTES = 1024 * 1024;

export interface TopicWriting {
  readonly file: SpillFile;
  readonly ids: IdTable;
  readonly lane: RewriteLane;
  readonly profile: string;
  readonly metadata: readonly MetadataRecord[];
  readonly compression: Compression;
}

/** Writes the messages of one topic as an indexed MCAP file. They keep the channels' ids that they have in a whole export. */
export async function* writeTopic(blocks: readonly number[], writing: TopicWriting): AsyncGenerator<Uint8Array> {
  const { file, ids, profile, metadata, compression } = writing;
  const writer = new McapWriter(ids.forAnotherFile(), compression);
  const builder = new FragmentBuilder();
  yield writer.start(profile);
  for (const record of metadata) yield writer.addMetadata(record);
  for (const place of blocks) {
    const head = await file.readHead(place);
    if (head.kind === "huge") {
      yield* seal(builder, writer, writing);
      yield* writeHuge({ place, head }, writer, writing);
      continue;
    }
    const records = await readRecords({ place, head }, file);
    builder.reserve(Math.min(FULL_CHUNK_BYTES, records.byteLength));
    for (let at = 0; at < records.byteLength; ) {
      at = addRecord(builder, records, at);
      if (builder.sizeBytes >= FULL_CHUNK_BYTES) yield* seal(builder, writer, writing);
    }
    freeOwn(records);
  }
  yield* seal(builder, writer, writing);
  yield* writer.end();
}

interface Block {
  readonly place: number;
  readonly head: BlockHead;
}

async function readRecords({ place, head }: Block, file: SpillFile): Promise<Uint8Array> {
  const bytes = await file.readStored(place, head);
  const { uncompressedBytes } = head;
  const block = { compression: SPILL_COMPRESSION, bytes, uncompressedBytes, place: "a block" };
  await nextRound();
  const records = await new Decompressor({ isBlocking: true }).whole(block); // in a millisecond or two
  freeOwn(bytes);
  return records;
}

/** Copies the record at `at`, and answers where the next one begins. */
function addRecord(builder: FragmentBuilder, records: Uint8Array, at: number): number {
  const end = at + sizeOfRecord(records, at);
  const view = asBuffer(records);
  builder.mark(builder.addBytes(records, at, end), view.readUInt16LE(at + RECORD_HEAD_BYTES));
  return end;
}

function sizeOfRecord(records: Uint8Array, at: number): number {
  return RECORD_HEAD_BYTES + Number(asBuffer(records).readBigUInt64LE(at + 1));
}

async function* seal(
  builder: FragmentBuilder,
  writer: McapWriter,
  { lane, compression }: TopicWriting,
): AsyncGenerator<Uint8Array> {
  if (builder.count === 0) return;
  const fragment: Fragment = builder.take();
  const { bytes, checksum, ...facts } = await lane.run({ kind: "seal", fragment, compression });
  yield* writer.addChunks({ bytes, checksum, chunks: [facts] });
}

/** A huge message is a chunk of its own. It is compressed twice, first to measure it, because the head of its chunk holds the size. */
async function* writeHuge(
  { place, head }: Block,
  writer: McapWriter,
  { file, compression }: TopicWriting,
): AsyncGenerator<Uint8Array> {
  const compressed = () => compressPieces(compression, file.readPieces(place, head), head.uncompressedBytes);
  let storedBytes = 0;
  for await (const piece of compressed()) storedBytes += piece.byteLength;
  let crc = 0;
  for await (const piece of file.readPieces(place, head)) crc = crc32(piece, crc);
  const record = await file.readStored(place, { ...head, storedBytes: EMPTY_MESSAGE_BYTES });
  const channelId = channelIdAt({ records: record } as Pick<Fragment, "records"> as Fragment, 0);
  const timeNs = record.readBigUInt64LE(LOG_TIME_OFFSET);
  const index = encodeRecords((builder) => builder.writeMessageIndex({ channelId, records: [[timeNs, 0n]] }));
  const sizes = { storedBytes, uncompressedBytes: head.uncompressedBytes, startNs: timeNs, endNs: timeNs };
  const bytes = encodeChunkHead({ ...sizes, crc, compression });
  const chunkBytes = bytes.byteLength + storedBytes;
  const channels = [{ channelId, messageCount: 1, start: chunkBytes }];
  const chunk = { ...sizes, chunkBytes, indexesBytes: index.byteLength, channels };
  yield* writer.addChunks({ bytes, checksum: crc32(bytes), chunks: [chunk] });
  for await (const piece of compressed()) yield writer.append(piece);
  yield writer.append(index);
}

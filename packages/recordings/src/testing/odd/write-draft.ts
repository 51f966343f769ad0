import { crc32 } from "node:zlib";
import type { Draft, DraftChunk, DraftItem, DraftRecord } from "./draft.ts";
import { compareTimes, gatherPieces, type Layout, type Pieces } from "./layout.ts";
import {
  attachmentRecord,
  type ChunkIndexFields,
  channelRecord,
  chunkRecord,
  dataEndRecord,
  type MessageIndexFields,
  mcapMagic,
  messageIndexRecord,
  messageRecord,
  metadataRecord,
  schemaRecord,
} from "./record-bytes.ts";
import { writeEnd } from "./write-end.ts";

export function writeDraft(draft: Draft): { bytes: Uint8Array; layout: Layout } {
  const pieces = gatherPieces();
  const layout: Layout = { chunks: [], attachments: [], metadata: [], messages: [] };
  pieces.push(mcapMagic);
  for (const record of draft.header) pieces.push(record);
  for (const item of draft.items) writeItem(item, pieces, layout);
  writeEnd(draft, pieces, layout);
  return { bytes: new Uint8Array(pieces.join()), layout };
}

function writeItem(item: DraftItem, pieces: Pieces, layout: Layout): void {
  if (item.kind === "chunk") writeChunk(item, pieces, layout);
  else if (item.kind === "dataEnd") writeDataEnd(item, pieces, layout);
  else if (item.kind === "attachment") {
    const { attachment } = item;
    layout.attachments.push({ attachment, place: pieces.push(attachmentRecord(attachment)) });
  } else if (item.kind === "metadata") {
    const { metadata } = item;
    layout.metadata.push({ metadata, place: pieces.push(metadataRecord(metadata)) });
  } else {
    pieces.push(bytesOf(item));
    if (item.kind === "message")
      layout.messages.push({ message: item.message, isUnchecked: true, isHidden: false, isLost: item.isLost === true });
  }
}

/** Messages that no other checksum covers are refuted by a wrong one here. */
function writeDataEnd({ crc }: DraftItem & { kind: "dataEnd" }, pieces: Pieces, layout: Layout): void {
  const right = crc === "none" ? 0 : crc32(pieces.join());
  pieces.push(dataEndRecord(crc === "wrong" ? right ^ 0x1234 : right));
  if (crc === "wrong") for (const message of layout.messages) message.isLost ||= message.isUnchecked;
}

function bytesOf(record: DraftRecord): Uint8Array {
  if (record.kind === "schema") return schemaRecord(record.schema);
  if (record.kind === "channel") return channelRecord(record.channel);
  return record.kind === "message" ? messageRecord(record.message) : record.bytes;
}

function writeChunk(chunk: DraftChunk, pieces: Pieces, layout: Layout): void {
  const parts: Uint8Array[] = [];
  const entries = new Map<number, { timeNs: bigint; offset: number }[]>();
  let offset = 0;
  for (const record of chunk.records) {
    if (record.kind === "message") {
      const { channelId, logTimeNs: timeNs } = record.message;
      const list = entries.get(channelId) ?? [];
      list.push({ timeNs, offset });
      entries.set(channelId, list);
      const isLost = chunk.isLost === true || record.isLost === true;
      const isHidden = chunk.isHidden === true;
      layout.messages.push({ message: record.message, isUnchecked: chunk.crc === "none", isHidden, isLost });
    }
    const bytes = bytesOf(record);
    parts.push(bytes);
    offset += bytes.byteLength;
  }
  const records = Buffer.concat(parts);
  const span = { ...spanOf(entries), uncompressedBytes: records.byteLength };
  const { compression, added } = chunk;
  const stored = chunk.frame(records);
  const crc = chunk.crc === "none" ? 0 : (crc32(records) ^ (chunk.crc === "wrong" ? 0xabcd : 0)) >>> 0;
  const place = pieces.push(chunkRecord({ ...chunk.head(span), crc, compression, stored, added }));
  const indexes = [...entries].map(([channelId, list]) => ({ channelId, entries: list }));
  if (chunk.gap) pieces.push(chunk.gap);
  const written = writeIndexes(chunk.indexes(indexes), pieces);
  const sizes = { chunkBytes: place.lengthBytes, storedBytes: stored.byteLength, compression };
  if (!chunk.isHidden) layout.chunks.push({ ...span, offset: place.offset, ...sizes, ...written });
}

function writeIndexes(
  indexes: readonly MessageIndexFields[],
  pieces: Pieces,
): Pick<ChunkIndexFields, "indexOffsets" | "indexesBytes"> {
  const start = pieces.lengthBytes;
  const offsets = new Map<number, number>();
  for (const index of indexes) offsets.set(index.channelId, pieces.push(messageIndexRecord(index)).offset);
  return { indexOffsets: [...offsets], indexesBytes: pieces.lengthBytes - start };
}

function spanOf(entries: ReadonlyMap<number, { timeNs: bigint }[]>): { startNs: bigint; endNs: bigint } {
  const times = [...entries.values()].flatMap((list) => list.map(({ timeNs }) => timeNs)).sort(compareTimes);
  return { startNs: times[0] ?? 0n, endNs: times.at(-1) ?? 0n };
}

import { opcodes, RECORD_HEAD_BYTES } from "../mcap/opcodes.ts";
import type { ChunkIndex } from "../mcap/records.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import { readChunkSection } from "./choose-chunks.ts";

const MOST_CHUNKS = 8;
const MOST_INDEX_BYTES = 1024 * 1024;

interface Sum {
  bytes: number;
  messageCount: number;
}

/**
 * Estimates how many bytes a message of each topic takes in an MCAP file, by the message indexes behind a few chunks: nothing is decompressed, and
 * at most 8 MiB are read. A topic that is in none of these chunks is not in the answer; other files have none. Throws I/O errors and the
 * signal's reason.
 */
export async function sampleTopics(source: RandomAccessSource, signal?: AbortSignal): Promise<Map<string, number>> {
  const section = await readChunkSection(source, signal);
  if (!section) return new Map();
  const topics = new Map(section.channels.map(({ id, topic }) => [id, topic]));
  const sums = new Map<string, Sum>();
  for (const chunk of spread([...section.chunks!.inOrder()].filter(isIndexed))) {
    signal?.throwIfAborted();
    const indexes = await source.read(chunk.offset + chunk.chunkBytes, chunk.lengthBytes - chunk.chunkBytes);
    addSizes(sums, chunk, { topics, indexes });
  }
  return new Map(Array.from(sums, ([topic, { bytes, messageCount }]) => [topic, bytes / messageCount]));
}

function isIndexed({ channelIds, uncompressedBytes, lengthBytes, chunkBytes }: ChunkIndex): boolean {
  return channelIds.length > 0 && uncompressedBytes > 0 && lengthBytes - chunkBytes <= MOST_INDEX_BYTES;
}

/** Chooses some of many, as far apart as they can be. */
function spread<T>(all: readonly T[]): T[] {
  const step = Math.max(1, all.length / MOST_CHUNKS);
  return Array.from(
    { length: Math.min(MOST_CHUNKS, all.length) },
    (_, index) => all[Math.floor((index + 0.5) * step)]!,
  );
}

/** A record ends where the next one begins. The compression is the same for all messages of a chunk. */
function addSizes(
  sums: Map<string, Sum>,
  { uncompressedBytes, storedBytes }: ChunkIndex,
  { topics, indexes }: { readonly topics: ReadonlyMap<number, string>; readonly indexes: Uint8Array },
): void {
  const places = readPlaces(indexes).sort((one, other) => one.offset - other.offset);
  for (const [index, { channelId, offset }] of places.entries()) {
    const topic = topics.get(channelId);
    const end = places[index + 1]?.offset ?? uncompressedBytes;
    if (topic === undefined || end <= offset) continue;
    const sum = sums.get(topic) ?? { bytes: 0, messageCount: 0 };
    sum.bytes += ((end - offset) * storedBytes) / uncompressedBytes;
    sum.messageCount += 1;
    sums.set(topic, sum);
  }
}

interface Place {
  readonly channelId: number;
  /** Within the decompressed chunk. */
  readonly offset: number;
}

/** Reads message indexes as far as they make sense. spec: MCAP "Message Index" */
function readPlaces(bytes: Uint8Array): Place[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const places: Place[] = [];
  for (let at = 0; at + INDEX_HEAD_BYTES <= bytes.byteLength && bytes[at] === opcodes.messageIndex; ) {
    const channelId = view.getUint16(at + RECORD_HEAD_BYTES, true);
    const end = at + INDEX_HEAD_BYTES + view.getUint32(at + RECORD_HEAD_BYTES + 2, true);
    if (end > bytes.byteLength) return places;
    for (let entry = at + INDEX_HEAD_BYTES; entry + ENTRY_BYTES <= end; entry += ENTRY_BYTES)
      places.push({ channelId, offset: Number(view.getBigUint64(entry + 8, true)) });
    at = end;
  }
  return places;
}

/** The channel and the size of the entries stand behind the record's head, and an entry is a time and an offset. */
const INDEX_HEAD_BYTES = RECORD_HEAD_BYTES + 2 + 4;
const ENTRY_BYTES = 16;

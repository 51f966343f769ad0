import { opcodes } from "../../bag1/records.ts";
import { loadLz4 } from "../../codecs/load-lz4.ts";
import { bagHeadBytes } from "./bag-head.ts";
import { type ConnectionTable, createConnectionTable } from "./connection-table.ts";
import { type BagMessage, type FilledChunk, fillChunks } from "./fill-chunks.ts";
import { encodeHead, encodeRecord, u8, u32, u32Row, u64 } from "./record-bytes.ts";

export type BagCompression = "" | "lz4";

/** What stands behind the head of a bag, while it is being written. */
export interface BagBody {
  /** Of the next byte in the file; after the last chunk, of the index. */
  position: number;
  connections: ConnectionTable;
  chunkInfos: Buffer[];
}

export function createBagBody(): BagBody {
  return { position: bagHeadBytes, connections: createConnectionTable(), chunkInfos: [] };
}

/** The chunks, each with its index data. Some are compressed while the next one is filled. */
export async function* writeChunks(
  body: BagBody,
  batches: AsyncIterable<readonly BagMessage[]>,
  compression: BagCompression,
): AsyncGenerator<Uint8Array> {
  const storing: Promise<StoredChunk>[] = [];
  for await (const chunk of fillChunks(batches, body.connections)) {
    storing.push(startStoring(chunk, compression));
    if (storing.length > maxStoring) yield* placeChunk(body, (await storing.shift())!);
  }
  for (const stored of storing) yield* placeChunk(body, await stored);
}

const maxStoring = 2;

/** What readers find by the bag's head: all connections, then where each chunk stands and what it holds. */
export function encodeIndex({ connections, chunkInfos }: BagBody): Buffer {
  return Buffer.concat([...connections.records, ...chunkInfos]);
}

interface StoredChunk extends FilledChunk {
  compression: "none" | "lz4";
  stored: Uint8Array;
}

function startStoring(chunk: FilledChunk, compression: BagCompression): Promise<StoredChunk> {
  const storing = storeChunk(chunk, compression);
  // Nobody awaits it any more when the messages end in an error or the reader goes away.
  storing.catch(() => undefined);
  return storing;
}

async function storeChunk(chunk: FilledChunk, compression: BagCompression): Promise<StoredChunk> {
  if (compression === "") return { ...chunk, compression: "none", stored: chunk.records };
  // ROS reads only frames with a checksum of their content and none of their blocks.
  return { ...chunk, compression, stored: await loadLz4().compressFrame(chunk.records, { contentChecksum: true }) };
}

/** Pieces, because joining them would copy every byte once more. */
function* placeChunk(body: BagBody, chunk: StoredChunk): Generator<Uint8Array> {
  const { records, stored, indexes, compression } = chunk;
  const about = { op: u8(opcodes.chunk), compression: Buffer.from(compression), size: u32(records.byteLength) };
  const head = encodeHead(about, stored.byteLength);
  const indexData = Buffer.concat([...indexes].map(encodeIndexData));
  body.chunkInfos.push(encodeChunkInfo(chunk, body.position));
  for (const piece of [head, stored, indexData]) {
    body.position += piece.byteLength;
    yield piece;
  }
}

function encodeIndexData([connectionId, entries]: [number, number[]]): Buffer {
  const count = entries.length / numbersPerEntry;
  const header = { op: u8(opcodes.indexData), ver: u32(1), conn: u32(connectionId), count: u32(count) };
  return encodeRecord(header, u32Row(entries));
}

const numbersPerEntry = 3;

function encodeChunkInfo({ indexes, start, end }: FilledChunk, position: number): Buffer {
  const header = {
    op: u8(opcodes.chunkInfo),
    ver: u32(1),
    chunk_pos: u64(position),
    start_time: u32Row([start.seconds, start.nanoseconds]),
    end_time: u32Row([end.seconds, end.nanoseconds]),
    count: u32(indexes.size),
  };
  const counts = [...indexes].flatMap(([connectionId, entries]) => [connectionId, entries.length / numbersPerEntry]);
  return encodeRecord(header, u32Row(counts));
}

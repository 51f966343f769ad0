import { opcodes } from "../../bag1/records.ts";
import { loadLz4 } from "../../codecs/load-lz4.ts";
import { freeOwn } from "../../memory/free-memory.ts";
import { SourceChangedError } from "../../sources/source.ts";
import type { MetadataRecord } from "../../survey/summary.ts";
import {
  BAG_HEAD_BYTES,
  type BagNumbers,
  beginBagHead,
  type ConnectionTable,
  createConnectionTable,
  encodeFields,
  encodeHead,
  encodeRecord,
  endBagHead,
  PADDING_BYTES,
  u8,
  u32,
  u32Row,
  u64,
} from "./bag-records.ts";
import {
  type BagBatch,
  type BagMessages,
  type ChunkMemory,
  type ConnectionIndex,
  createChunkMemory,
  type FilledChunk,
  fillChunks,
  type HugeChunk,
  NUMBERS_PER_ENTRY,
} from "./fill-chunks.ts";

export type BagCompression = "" | "lz4";

/**
 * Opens the messages in order of time; messages of equal times come in the order that they shall have. It is called once or twice. Each
 * call must give the same messages.
 */
export type MessageOpener = () => AsyncIterable<BagBatch>;

/**
 * Writes an indexed ROS 1 bag, format 2.0, piece by piece. Its head says where the index will stand, so the chunks are made twice: first to
 * measure them, then to send them. If they fit into `mostHeldBytes`, they are kept and made once; it is asked for each of them. The head's
 * padding stands before its numbers and is sent while measuring, so that the stream begins at once.
 *
 * The bag is not written to a temporary file, because that needs a disk as large as the export and a cleanup after a crash. It is not
 * computed from the source's index either, which knows neither the sizes of what it does not list nor which chunks are damaged.
 *
 * Throws `RecordingError` (`InvalidTime`) for a time that ROS cannot write, and `SourceChangedError` if the second time gave other
 * messages. The bytes that were yielded until then are not a whole file.
 */
export async function* writeBag(
  openMessages: MessageOpener,
  compression: BagCompression,
  mostHeldBytes = (): number => DEFAULT_HELD_BYTES,
): AsyncGenerator<Uint8Array> {
  yield beginBagHead();
  const { measured, held, leftPaddingBytes } = yield* measureChunks(openMessages(), compression, mostHeldBytes);
  const headEnd = endBagHead(numbersOf(measured));
  yield Buffer.concat([Buffer.alloc(leftPaddingBytes, " "), headEnd]);
  if (held) {
    yield* held;
    yield encodeIndex(measured);
    return;
  }
  const written = createBagBody();
  yield* writeChunks(written, openMessages(), compression);
  if (!headEnd.equals(endBagHead(numbersOf(written)))) {
    throw new SourceChangedError("the messages for a bag were not the same when read again: their source has changed");
  }
  yield encodeIndex(written);
}

const DEFAULT_HELD_BYTES = 16 * 1024 * 1024;

interface Measurement {
  readonly measured: BagBody;
  /** The chunks, if they are few enough to be kept. */
  readonly held: Uint8Array[] | undefined;
  readonly leftPaddingBytes: number;
}

/**
 * Measures the chunks, and yields some of the head's padding now and then, because proxies end a connection that is silent for a minute.
 */
async function* measureChunks(
  batches: AsyncIterable<BagBatch>,
  compression: BagCompression,
  mostHeldBytes: () => number,
): AsyncGenerator<Uint8Array, Measurement> {
  const measured = createBagBody();
  let held: Uint8Array[] | undefined = [];
  let leftPaddingBytes = PADDING_BYTES;
  for await (const piece of writeChunks(measured, batches, compression)) {
    if (measured.position - BAG_HEAD_BYTES > mostHeldBytes()) held = undefined;
    if (held) held.push(piece);
    else freeOwn(piece);
    const duePaddingBytes = Math.floor(measured.position / BYTES_PER_PADDING) - (PADDING_BYTES - leftPaddingBytes);
    if (duePaddingBytes <= 0 || leftPaddingBytes === 0) continue;
    const padding = Buffer.alloc(Math.min(duePaddingBytes, leftPaddingBytes), " ");
    leftPaddingBytes -= padding.byteLength;
    yield padding;
  }
  return { measured, held, leftPaddingBytes };
}

/** With so many bytes for each byte of padding, the padding lasts for bags of 64 GB. */
const BYTES_PER_PADDING = 16 * 1024 * 1024;

function numbersOf({ position, connections, chunkInfos }: BagBody): BagNumbers {
  return {
    indexPosition: position,
    connectionCount: connections.records.length,
    chunkCount: chunkInfos.length,
  };
}

/** The records behind the head of a bag, while it is being written. */
export interface BagBody {
  /** Where the next byte stands in the file; after the last chunk, where the index stands. */
  position: number;
  readonly connections: ConnectionTable;
  readonly chunkInfos: Buffer[];
}

export function createBagBody(): BagBody {
  return { position: BAG_HEAD_BYTES, connections: createConnectionTable(), chunkInfos: [] };
}

/** Writes the chunks, each with its index data. Some are compressed while the next one is filled. */
async function* writeChunks(
  body: BagBody,
  batches: AsyncIterable<BagBatch>,
  compression: BagCompression,
): AsyncGenerator<Uint8Array> {
  let storing: Promise<StoredChunk>[] = [];
  const memory = createChunkMemory();
  for await (const chunk of fillChunks(batches, { connections: body.connections, memory })) {
    if (!("open" in chunk)) storing.push(startStoring(chunk, { compression, memory }));
    if (storing.length > MAX_STORING) yield* placeChunk(body, (await storing.shift())!);
    if (!("open" in chunk)) continue;
    for (const stored of storing) yield* placeChunk(body, await stored);
    storing = [];
    yield* placeHuge(body, chunk);
  }
  for (const stored of storing) yield* placeChunk(body, await stored);
}

const MAX_STORING = 2;

/** Encodes what readers find by the bag's head: all connections, then where each chunk stands and what it holds. */
export function encodeIndex({ connections, chunkInfos }: BagBody): Buffer {
  return Buffer.concat([...connections.records, ...chunkInfos]);
}

interface StoredChunk extends Omit<FilledChunk, "records"> {
  readonly compression: "none" | "lz4";
  readonly sizeBytes: number;
  readonly stored: Uint8Array;
}

interface Storing {
  readonly compression: BagCompression;
  readonly memory: ChunkMemory;
}

function startStoring(chunk: FilledChunk, how: Storing): Promise<StoredChunk> {
  const storing = storeChunk(chunk, how);
  // It is not awaited any more if the messages end in an error or the reader goes away.
  storing.catch(() => undefined);
  return storing;
}

async function storeChunk({ records, ...chunk }: FilledChunk, { compression, memory }: Storing): Promise<StoredChunk> {
  const sizeBytes = records.byteLength;
  if (compression === "") return { ...chunk, sizeBytes, compression: "none", stored: records };
  // ROS reads only frames with a checksum of their content and none of their blocks.
  const stored = await loadLz4().compressFrame(records, { contentChecksum: true });
  memory.giveBack(records);
  return { ...chunk, sizeBytes, compression, stored };
}

/** Yields pieces, because joining them would copy every byte once more. */
export function* placeChunk(body: BagBody, chunk: StoredChunk): Generator<Uint8Array> {
  const { sizeBytes, stored, compression } = chunk;
  const head = encodeChunkHead({ compression, sizeBytes, storedBytes: stored.byteLength });
  body.chunkInfos.push(encodeChunkInfo(chunk, body.position));
  for (const piece of [head, stored, encodeIndexes(chunk)]) {
    body.position += piece.byteLength;
    yield piece;
  }
}

/** Writes a huge message as it is read. It is uncompressed, whatever the other chunks are, because the head of a chunk holds its size. */
async function* placeHuge(body: BagBody, chunk: HugeChunk): AsyncGenerator<Uint8Array> {
  const { records, dataBytes, open } = chunk;
  const sizeBytes = records.byteLength + dataBytes;
  const start = body.position;
  body.chunkInfos.push(encodeChunkInfo(chunk, start));
  const head = encodeChunkHead({ compression: "none", sizeBytes, storedBytes: sizeBytes });
  for (const piece of [head, records]) {
    body.position += piece.byteLength;
    yield piece;
  }
  for await (const piece of open()) {
    body.position += piece.byteLength;
    yield piece;
  }
  if (body.position !== start + head.byteLength + sizeBytes)
    throw new SourceChangedError("a message for a bag was not the same when it was read again: its source has changed");
  const indexes = encodeIndexes(chunk);
  body.position += indexes.byteLength;
  yield indexes;
}

function encodeChunkHead(head: { compression: "none" | "lz4"; sizeBytes: number; storedBytes: number }): Buffer {
  const { compression, sizeBytes, storedBytes } = head;
  return encodeHead(
    { op: u8(opcodes.chunk), compression: Buffer.from(compression), size: u32(sizeBytes) },
    storedBytes,
  );
}

export function encodeIndexes({ indexes }: Pick<FilledChunk, "indexes">): Buffer {
  return Buffer.concat([...indexes].map(encodeIndexData));
}

export function encodeIndexData([connectionId, { entries, messageCount }]: [number, ConnectionIndex]): Buffer {
  const header = { op: u8(opcodes.indexData), ver: u32(1), conn: u32(connectionId), count: u32(messageCount) };
  return encodeRecord(header, u32Row(entries.subarray(0, NUMBERS_PER_ENTRY * messageCount)));
}

function encodeChunkInfo({ indexes, start, end }: Omit<FilledChunk, "records">, position: number): Buffer {
  const header = {
    op: u8(opcodes.chunkInfo),
    ver: u32(1),
    chunk_pos: u64(position),
    start_time: u32Row([start.seconds, start.nanoseconds]),
    end_time: u32Row([end.seconds, end.nanoseconds]),
    count: u32(indexes.size),
  };
  const counts = [...indexes].flatMap(([connectionId, { messageCount }]) => [connectionId, messageCount]);
  return encodeRecord(header, u32Row(counts));
}

/** Makes a message of the type `std_msgs/String` with JSON of what an MCAP file says in a metadata record. */
export function makeDamageMessages(record: MetadataRecord | undefined, logTimeNs: bigint): BagMessages | undefined {
  if (!record) return undefined;
  const text = Buffer.from(JSON.stringify(record.metadata));
  const bytes = Buffer.concat([u32(text.byteLength), text]);
  return {
    count: 1,
    connectionAt: () => damageConnection,
    timesNs: BigUint64Array.of(logTimeNs),
    bytes,
    startAt: () => 0,
    endAt: () => bytes.byteLength,
  };
}

const topic = Buffer.from("/downlink/export");

const damageConnection = {
  topic,
  header: encodeFields({
    topic,
    type: Buffer.from("std_msgs/String"),
    md5sum: Buffer.from("992ce8a1687cec8c8bd883ec73ca41d1"),
    message_definition: Buffer.from("string data\n"),
  }),
};

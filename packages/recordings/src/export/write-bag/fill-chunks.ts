import type { BagConnection } from "../../bag1/read-connections.ts";
import { opcodes } from "../../bag1/records.ts";
import { growColumn } from "../../memory/columns.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import { type ConnectionTable, encodeHead, type RosTime, toRosTime, u8, u32, u64 } from "./bag-records.ts";

/** Messages in order of time. They come as columns, because an object for each of millions of messages would fill the heap. */
export interface BagMessages {
  readonly count: number;
  /** Answers one object for all messages of a connection. */
  connectionAt(index: number): BagConnection;
  readonly timesNs: BigUint64Array;
  /** Where the data of the messages lie. It is copied before the next batch is asked for. */
  readonly bytes: Buffer;
  startAt(index: number): number;
  endAt(index: number): number;
}

/** A message that is too large to be held. */
export interface HugeBagMessage {
  readonly connection: BagConnection;
  readonly logTimeNs: bigint;
  readonly dataBytes: number;
  /** Reads the data, in pieces. */
  open(): AsyncIterable<Uint8Array>;
}

export type BagBatch = BagMessages | HugeBagMessage;

/** The index of one connection's messages in a chunk. */
export interface ConnectionIndex {
  /** Seconds, nanoseconds and offset in the chunk, one after another. There is room for more. */
  entries: Uint32Array;
  messageCount: number;
}

export interface FilledChunk {
  readonly records: Uint8Array;
  /** The indexes by connection. */
  readonly indexes: Map<number, ConnectionIndex>;
  readonly start: RosTime;
  readonly end: RosTime;
}

/** The chunk of one huge message. Its `records` end where the data begin. */
export interface HugeChunk extends FilledChunk {
  readonly dataBytes: number;
  open(): AsyncIterable<Uint8Array>;
}

/** Puts the messages, which must come in order of time, into the records of chunks. */
export async function* fillChunks(
  batches: AsyncIterable<BagBatch>,
  { connections, memory }: { connections: ConnectionTable; memory: ChunkMemory },
): AsyncGenerator<FilledChunk | HugeChunk> {
  const filling = new ChunkFilling(connections, memory);
  for await (const batch of batches) {
    if ("open" in batch) {
      yield* filling.end();
      yield filling.toHugeChunk(batch);
      continue;
    }
    for (let index = 0; index < batch.count; index += 1) {
      const message = filling.prepare(batch, index);
      if (!filling.hasRoomFor(message)) yield* filling.end();
      filling.add(message, batch.bytes);
    }
  }
  yield* filling.end();
}

/** A message that goes into the next chunk, and how large its records are. */
interface PreparedMessage extends MessageHead {
  /** The connection's record, if this is its first message. */
  readonly newRecord: Buffer | undefined;
  /** Where the data begin. */
  readonly start: number;
  readonly sizeBytes: number;
}

/** The chunk that is being filled. */
class ChunkFilling {
  readonly #connections: ConnectionTable;
  readonly #memory: ChunkMemory;
  #chunk: OpenChunk | undefined;
  #lastNs = 0n;

  constructor(connections: ConnectionTable, memory: ChunkMemory) {
    this.#connections = connections;
    this.#memory = memory;
  }

  prepare(batch: BagMessages, index: number): PreparedMessage {
    const time = this.#toTime(batch.timesNs[index]!);
    const { id, newRecord } = this.#connections.introduce(batch.connectionAt(index));
    const start = batch.startAt(index);
    const dataBytes = batch.endAt(index) - start;
    const sizeBytes = (newRecord?.byteLength ?? 0) + messageHead.byteLength + dataBytes;
    return { id, time, newRecord, start, dataBytes, sizeBytes };
  }

  hasRoomFor({ sizeBytes }: PreparedMessage): boolean {
    return this.#chunk === undefined || this.#chunk.filledBytes + sizeBytes <= MAX_CHUNK_BYTES;
  }

  add(message: PreparedMessage, bytes: Buffer): void {
    const { newRecord, start, dataBytes, sizeBytes, time } = message;
    this.#chunk ??= openChunk(this.#memory.take(sizeBytes), time);
    const chunk = this.#chunk;
    if (newRecord) addBytes(chunk, newRecord);
    addMessageHead(chunk, message);
    chunk.filledBytes += bytes.copy(chunk.bytes, chunk.filledBytes, start, start + dataBytes);
  }

  toHugeChunk({ connection, logTimeNs, dataBytes, open }: HugeBagMessage): HugeChunk {
    const time = this.#toTime(logTimeNs);
    const { id, newRecord } = this.#connections.introduce(connection);
    const chunk = openChunk(Buffer.allocUnsafeSlow((newRecord?.byteLength ?? 0) + messageHead.byteLength), time);
    if (newRecord) addBytes(chunk, newRecord);
    addMessageHead(chunk, { id, time, dataBytes });
    return { ...closeChunk(chunk), dataBytes, open };
  }

  *end(): Generator<FilledChunk> {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk) yield closeChunk(chunk);
  }

  #toTime(logTimeNs: bigint): RosTime {
    const time = toRosTime(logTimeNs);
    if (logTimeNs < this.#lastNs) throw new Error("the messages of a bag must come in order of time");
    this.#lastNs = logTimeNs;
    return time;
  }
}

/** The most that a chunk holds, as with `rosbag record`. One message may be larger. */
const MAX_CHUNK_BYTES = 768 * 1024;

interface OpenChunk {
  readonly bytes: Buffer;
  filledBytes: number;
  readonly indexes: FilledChunk["indexes"];
  readonly start: RosTime;
  end: RosTime;
}

/** Memory in which the records of one chunk after another are put together. */
export interface ChunkMemory {
  /** Answers room for a chunk whose first message takes so much. */
  take(firstBytes: number): Buffer;
  /** Takes memory back, which is used again for a later chunk. Memory that is passed on is never given back. */
  giveBack(records: Uint8Array): void;
}

/** The memory is kept, because memory that is freed in pieces of this size and others goes back to the system only in part. */
export function createChunkMemory(): ChunkMemory {
  const spare: ArrayBuffer[] = [];
  return {
    take(firstBytes) {
      if (firstBytes > MAX_CHUNK_BYTES) return Buffer.allocUnsafeSlow(firstBytes);
      return Buffer.from(spare.pop() ?? Buffer.allocUnsafeSlow(MAX_CHUNK_BYTES).buffer);
    },
    giveBack(records) {
      if (records.buffer.byteLength === MAX_CHUNK_BYTES) spare.push(records.buffer as ArrayBuffer);
      else freeMemory(records);
    },
  };
}

function openChunk(bytes: Buffer, time: RosTime): OpenChunk {
  return { bytes, filledBytes: 0, indexes: new Map(), start: time, end: time };
}

function closeChunk({ bytes, filledBytes, ...rest }: OpenChunk): FilledChunk {
  return { records: bytes.subarray(0, filledBytes), ...rest };
}

/** The fields of the head of a message record. */
interface MessageHead {
  /** The connection's number in the written bag. */
  readonly id: number;
  readonly time: RosTime;
  readonly dataBytes: number;
}

function addMessageHead(chunk: OpenChunk, { id, time, dataBytes }: MessageHead): void {
  const { bytes, filledBytes: offset, indexes } = chunk;
  const index = indexes.get(id) ?? { entries: new Uint32Array(NUMBERS_PER_ENTRY * 8), messageCount: 0 };
  if (index.messageCount === 0) indexes.set(id, index);
  const at = NUMBERS_PER_ENTRY * index.messageCount;
  if (at === index.entries.length) index.entries = growColumn(index.entries);
  index.entries[at] = time.seconds;
  index.entries[at + 1] = time.nanoseconds;
  index.entries[at + 2] = offset;
  index.messageCount += 1;
  chunk.end = time;
  addBytes(chunk, messageHead);
  bytes.writeUInt32LE(id, offset + fieldOffsets.conn);
  bytes.writeUInt32LE(time.seconds, offset + fieldOffsets.time);
  bytes.writeUInt32LE(time.nanoseconds, offset + fieldOffsets.time + 4);
  bytes.writeUInt32LE(dataBytes, offset + fieldOffsets.dataBytes);
}

function addBytes(chunk: OpenChunk, bytes: Uint8Array): void {
  chunk.bytes.set(bytes, chunk.filledBytes);
  chunk.filledBytes += bytes.byteLength;
}

export const NUMBERS_PER_ENTRY = 3;

/** The head of every message record, into which the values are written. */
const messageHead = encodeHead({ op: u8(opcodes.message), conn: u32(0), time: u64(0) }, 0);
const fieldOffsets = {
  conn: messageHead.indexOf("conn=") + 5,
  time: messageHead.indexOf("time=") + 5,
  dataBytes: messageHead.byteLength - 4,
};

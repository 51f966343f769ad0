import type { BagConnection } from "../../bag1/read-connections.ts";
import { opcodes } from "../../bag1/records.ts";
import { growColumn } from "../../memory/columns.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import { type ConnectionTable, encodeHead, type RosTime, toRosTime, u8, u32, u64 } from "./bag-records.ts";

/** Messages in order of time. They come as columns, because an object for each of millions of messages would fill the heap. */
export interface BagMessages {
  readonly count: number;
  /** One object for all messages of a connection. */
  connectionAt(index: number): BagConnection;
  readonly timesNs: BigUint64Array;
  /** Where the data of the messages lie. It is copied before the next batch is asked for. */
  readonly bytes: Buffer;
  startAt(index: number): number;
  endAt(index: number): number;
}

/** One that is too large to be held. */
export interface HugeBagMessage {
  readonly connection: BagConnection;
  readonly logTimeNs: bigint;
  readonly dataBytes: number;
  /** Reads the data, in pieces. */
  open(): AsyncIterable<Uint8Array>;
}

export type BagBatch = BagMessages | HugeBagMessage;

/** Of one connection's messages in a chunk. */
export interface ConnectionIndex {
  /** Seconds, nanoseconds and offset in the chunk, one after another; there is room for more. */
  entries: Uint32Array;
  messageCount: number;
}

export interface FilledChunk {
  records: Uint8Array;
  /** By connection. */
  indexes: Map<number, ConnectionIndex>;
  start: RosTime;
  end: RosTime;
}

/** Of one message; `records` end where its data begin. */
export interface HugeChunk extends FilledChunk {
  dataBytes: number;
  open(): AsyncIterable<Uint8Array>;
}

/** The messages, which must come in order of time, as the records of chunks. */
export async function* fillChunks(
  batches: AsyncIterable<BagBatch>,
  { connections, memory }: { connections: ConnectionTable; memory: ChunkMemory },
): AsyncGenerator<FilledChunk | HugeChunk> {
  let chunk: OpenChunk | undefined;
  let lastNs = 0n;
  const follow = (logTimeNs: bigint): RosTime => {
    const time = toRosTime(logTimeNs);
    if (logTimeNs < lastNs) throw new Error("the messages of a bag must come in order of time");
    lastNs = logTimeNs;
    return time;
  };
  for await (const batch of batches) {
    if ("open" in batch) {
      if (chunk) yield closeChunk(chunk);
      chunk = undefined;
      yield toHugeChunk(batch, follow(batch.logTimeNs), connections);
      continue;
    }
    const { bytes } = batch;
    for (let index = 0; index < batch.count; index += 1) {
      const time = follow(batch.timesNs[index]!);
      const { id, newRecord } = connections.introduce(batch.connectionAt(index));
      const [start, end] = [batch.startAt(index), batch.endAt(index)];
      const sizeBytes = (newRecord?.byteLength ?? 0) + messageHead.byteLength + end - start;
      if (chunk && chunk.filledBytes + sizeBytes > maxChunkBytes) {
        yield closeChunk(chunk);
        chunk = undefined;
      }
      chunk ??= openChunk(memory.take(sizeBytes), time);
      if (newRecord) addBytes(chunk, newRecord);
      addMessageHead(chunk, { id, time, dataBytes: end - start });
      chunk.filledBytes += bytes.copy(chunk.bytes, chunk.filledBytes, start, end);
    }
  }
  if (chunk) yield closeChunk(chunk);
}

/** As `rosbag record` does it; one message may be larger. */
const maxChunkBytes = 768 * 1024;

interface OpenChunk {
  bytes: Buffer;
  filledBytes: number;
  indexes: FilledChunk["indexes"];
  start: RosTime;
  end: RosTime;
}

/** Memory in which the records of one chunk after another are put together. */
export interface ChunkMemory {
  /** Room for a chunk whose first message takes so much. */
  take(firstBytes: number): Buffer;
  /** It is used again for a later chunk. What is passed on is never given back. */
  giveBack(records: Uint8Array): void;
}

/** It is kept, because what is freed in pieces of this size and others goes back to the system only in part. */
export function createChunkMemory(): ChunkMemory {
  const spare: ArrayBuffer[] = [];
  return {
    take(firstBytes) {
      if (firstBytes > maxChunkBytes) return Buffer.allocUnsafeSlow(firstBytes);
      return Buffer.from(spare.pop() ?? Buffer.allocUnsafeSlow(maxChunkBytes).buffer);
    },
    giveBack(records) {
      if (records.buffer.byteLength === maxChunkBytes) spare.push(records.buffer as ArrayBuffer);
      else freeMemory(records);
    },
  };
}

function openChunk(bytes: Buffer, time: RosTime): OpenChunk {
  return { bytes, filledBytes: 0, indexes: new Map(), start: time, end: time };
}

function toHugeChunk(message: HugeBagMessage, time: RosTime, connections: ConnectionTable): HugeChunk {
  const { dataBytes, open } = message;
  const { id, newRecord } = connections.introduce(message.connection);
  const chunk = openChunk(Buffer.allocUnsafeSlow((newRecord?.byteLength ?? 0) + messageHead.byteLength), time);
  if (newRecord) addBytes(chunk, newRecord);
  addMessageHead(chunk, { id, time, dataBytes });
  return { ...closeChunk(chunk), dataBytes, open };
}

function closeChunk({ bytes, filledBytes, ...rest }: OpenChunk): FilledChunk {
  return { records: bytes.subarray(0, filledBytes), ...rest };
}

function addMessageHead(
  chunk: OpenChunk,
  { id, time, dataBytes }: { id: number; time: RosTime; dataBytes: number },
): void {
  const { bytes, filledBytes: offset, indexes } = chunk;
  const index = indexes.get(id) ?? { entries: new Uint32Array(numbersPerEntry * 8), messageCount: 0 };
  if (index.messageCount === 0) indexes.set(id, index);
  const at = numbersPerEntry * index.messageCount;
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

export const numbersPerEntry = 3;

/** The head of every message record; the values are written into it. */
const messageHead = encodeHead({ op: u8(opcodes.message), conn: u32(0), time: u64(0) }, 0);
const fieldOffsets = {
  conn: messageHead.indexOf("conn=") + 5,
  time: messageHead.indexOf("time=") + 5,
  dataBytes: messageHead.byteLength - 4,
};

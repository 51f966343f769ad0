import type { BagConnection } from "../../bag1/read-connections.ts";
import { opcodes } from "../../bag1/records.ts";
import { growColumn } from "../../memory/columns.ts";
import { type ConnectionTable, encodeHead, type RosTime, toRosTime, u8, u32, u64 } from "./bag-records.ts";

export interface BagMessage {
  /** One object for all messages of a connection. */
  connection: BagConnection;
  logTimeNs: bigint;
  /** Copied before the next batch is asked for. */
  data: Uint8Array;
}

/** One that is too large to be held. */
export interface HugeBagMessage extends Omit<BagMessage, "data"> {
  dataBytes: number;
  /** Reads the data, in pieces. */
  open(): AsyncIterable<Uint8Array>;
}

export type BagBatch = Iterable<BagMessage> | HugeBagMessage;

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
  connections: ConnectionTable,
): AsyncGenerator<FilledChunk | HugeChunk> {
  let chunk: OpenChunk | undefined;
  let lastNs = 0n;
  const follow = ({ logTimeNs }: Pick<BagMessage, "logTimeNs">): RosTime => {
    const time = toRosTime(logTimeNs);
    if (logTimeNs < lastNs) throw new Error("the messages of a bag must come in order of time");
    lastNs = logTimeNs;
    return time;
  };
  for await (const batch of batches) {
    if ("open" in batch) {
      if (chunk) yield closeChunk(chunk);
      chunk = undefined;
      yield toHugeChunk(batch, follow(batch), connections);
      continue;
    }
    for (const message of batch) {
      const time = follow(message);
      const { id, newRecord } = connections.introduce(message.connection);
      const sizeBytes = (newRecord?.byteLength ?? 0) + messageHead.byteLength + message.data.byteLength;
      if (chunk && chunk.filledBytes + sizeBytes > maxChunkBytes) {
        yield closeChunk(chunk);
        chunk = undefined;
      }
      chunk ??= openChunk(sizeBytes, time);
      if (newRecord) addBytes(chunk, newRecord);
      addMessage(chunk, { id, time, data: message.data });
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

/** Never one of a pool: the chunk is passed on, and being compressed while the next one is filled. */
function openChunk(firstBytes: number, time: RosTime): OpenChunk {
  const bytes = Buffer.allocUnsafeSlow(Math.max(maxChunkBytes, firstBytes));
  return { bytes, filledBytes: 0, indexes: new Map(), start: time, end: time };
}

function toHugeChunk(message: HugeBagMessage, time: RosTime, connections: ConnectionTable): HugeChunk {
  const { dataBytes, open } = message;
  const { id, newRecord } = connections.introduce(message.connection);
  const chunk = openChunk((newRecord?.byteLength ?? 0) + messageHead.byteLength, time);
  if (newRecord) addBytes(chunk, newRecord);
  addMessageHead(chunk, { id, time, dataBytes });
  return { ...closeChunk(chunk), dataBytes, open };
}

function closeChunk({ bytes, filledBytes, ...rest }: OpenChunk): FilledChunk {
  return { records: bytes.subarray(0, filledBytes), ...rest };
}

function addMessage(chunk: OpenChunk, { data, ...head }: { id: number; time: RosTime; data: Uint8Array }): void {
  addMessageHead(chunk, { ...head, dataBytes: data.byteLength });
  addBytes(chunk, data);
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

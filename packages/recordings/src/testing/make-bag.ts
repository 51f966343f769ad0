import { compressFrame } from "lz4-napi";
import { compressBzip2 } from "./bzip2-frame.ts";
import { makeRos1Message, type Ros1Type, ros1Definitions } from "./ros1-messages.ts";
import { seededRandom } from "./sensors.ts";
import { ticksOf } from "./timeline.ts";

export interface BagTopicSpec {
  readonly topic: string;
  readonly type: Ros1Type;
  readonly rateHz: number;
}

export interface BagSpec {
  /** Default: /imu (sensor_msgs/Imu, 100 Hz) and /status (std_msgs/String, 2 Hz). */
  readonly topics?: readonly BagTopicSpec[];
  /** By default 2026-01-02T03:04:05Z. */
  readonly startNs?: bigint;
  /** By default 2. */
  readonly durationSeconds?: number;
  /** By default lz4. */
  readonly compression?: "none" | "lz4" | "bz2";
  /** By default 64 KiB. */
  readonly chunkBytes?: number;
  /** False for a bag as a recorder that was killed leaves it, without an index. */
  readonly isFinished?: boolean;
  /** Whether the chunks are written last to first. */
  readonly isReversed?: boolean;
}

/** A ROS 1 bag, format 2.0. */
export async function makeBag(spec: BagSpec = {}): Promise<Uint8Array> {
  const { topics = defaultTopics, isFinished = true, isReversed = false } = spec;
  const batches = batchMessages(spec, topics);
  if (isReversed) batches.reverse();
  const parts = [Buffer.from("#ROSBAG V2.0\n"), bagHeader({ indexPosition: 0, topicCount: 0, chunkCount: 0 })];
  let position = 13 + BAG_HEADER_BYTES;
  const infos: Buffer[] = [];
  const introduced = new Set<number>();
  for (const batch of batches) {
    infos.push(chunkInfo(batch, position));
    for (const part of await chunkRecords(batch, { topics, introduced, compression: spec.compression ?? "lz4" })) {
      parts.push(part);
      position += part.byteLength;
    }
  }
  if (!isFinished) return new Uint8Array(Buffer.concat(parts));
  parts[1] = bagHeader({ indexPosition: position, topicCount: topics.length, chunkCount: batches.length });
  return new Uint8Array(Buffer.concat([...parts, ...topics.map((topic, index) => connection(topic, index)), ...infos]));
}

const defaultTopics: readonly BagTopicSpec[] = [
  { topic: "/imu", type: "sensor_msgs/Imu", rateHz: 100 },
  { topic: "/status", type: "std_msgs/String", rateHz: 2 },
];

interface BagMessage {
  readonly conn: number;
  readonly timeNs: bigint;
  readonly data: Uint8Array;
}

/** The messages of each chunk. */
function batchMessages(spec: BagSpec, topics: readonly BagTopicSpec[]): BagMessage[][] {
  const { startNs = 1_767_323_045_000_000_000n, durationSeconds = 2, chunkBytes = 64 * 1024 } = spec;
  const random = seededRandom(1);
  const batches: BagMessage[][] = [];
  let filled = chunkBytes;
  for (const { topicIndex, sequence, timeNs } of ticksOf({
    rates: topics.map(({ rateHz }) => rateHz),
    startNs,
    durationSeconds,
  })) {
    const data = makeRos1Message(topics[topicIndex]!.type, { timeNs, sequence, random });
    if (filled >= chunkBytes) {
      batches.push([]);
      filled = 0;
    }
    batches.at(-1)!.push({ conn: topicIndex, timeNs, data });
    filled += data.byteLength;
  }
  return batches;
}

interface ChunkSurroundings {
  readonly topics: readonly BagTopicSpec[];
  /** Connections that an earlier chunk defines. */
  readonly introduced: Set<number>;
  readonly compression: "none" | "lz4" | "bz2";
}

async function chunkRecords(
  batch: BagMessage[],
  { topics, introduced, compression }: ChunkSurroundings,
): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  const entries = new Map<number, Buffer[]>();
  let offset = 0;
  const push = (part: Buffer) => {
    parts.push(part);
    offset += part.byteLength;
  };
  for (const { conn, timeNs, data } of batch) {
    if (!introduced.has(conn)) push(connection(topics[conn]!, conn));
    introduced.add(conn);
    const ofConnection = entries.get(conn) ?? [];
    entries.set(conn, ofConnection);
    ofConnection.push(Buffer.concat([rosTime(timeNs), u32(offset)]));
    push(record({ op: u8(0x02), conn: u32(conn), time: rosTime(timeNs) }, data));
  }
  const plain = Buffer.concat(parts);
  const stored = await compress[compression](plain);
  const chunk = record({ op: u8(0x05), compression: Buffer.from(compression), size: u32(plain.byteLength) }, stored);
  const indexes = [...entries].map(([conn, list]) =>
    record({ op: u8(0x04), ver: u32(1), conn: u32(conn), count: u32(list.length) }, Buffer.concat(list)),
  );
  return [chunk, ...indexes];
}

const compress = {
  none: async (bytes: Buffer) => bytes,
  // ROS reads only LZ4 frames with a checksum of their content.
  lz4: (bytes: Buffer) => compressFrame(bytes, { contentChecksum: true }),
  bz2: async (bytes: Buffer) => compressBzip2(bytes),
} as const;

function connection({ topic, type }: BagTopicSpec, conn: number): Buffer {
  const { md5sum, definition } = ros1Definitions[type];
  const [path, kind, sum, text] = [topic, type, md5sum, definition].map((value) => Buffer.from(value));
  const data = fields({
    topic: path!,
    type: kind!,
    md5sum: sum!,
    message_definition: text!,
    callerid: Buffer.from("/recorder"),
  });
  return record({ op: u8(0x07), conn: u32(conn), topic: path! }, data);
}

function chunkInfo(batch: BagMessage[], position: number): Buffer {
  const counts = new Map<number, number>();
  for (const { conn } of batch) counts.set(conn, (counts.get(conn) ?? 0) + 1);
  const header = {
    op: u8(0x06),
    ver: u32(1),
    chunk_pos: u64(position),
    start_time: rosTime(batch[0]!.timeNs),
    end_time: rosTime(batch.at(-1)!.timeNs),
    count: u32(counts.size),
  };
  return record(header, Buffer.concat([...counts].flatMap(([conn, count]) => [u32(conn), u32(count)])));
}

function bagHeader(about: { indexPosition: number; topicCount: number; chunkCount: number }): Buffer {
  const { indexPosition, topicCount, chunkCount } = about;
  const header = fields({
    op: u8(0x03),
    index_pos: u64(indexPosition),
    conn_count: u32(topicCount),
    chunk_count: u32(chunkCount),
  });
  const padding = Buffer.alloc(BAG_HEADER_BYTES - 8 - header.byteLength, 0x20);
  return Buffer.concat([u32(header.byteLength), header, u32(padding.byteLength), padding]);
}

/** spec: ROS bag format 2.0: the bag header record is padded to 4096 bytes. */
const BAG_HEADER_BYTES = 4096;

function record(header: Record<string, Buffer>, data: Uint8Array): Buffer {
  const head = fields(header);
  return Buffer.concat([u32(head.byteLength), head, u32(data.byteLength), data]);
}

function fields(values: Record<string, Buffer>): Buffer {
  return Buffer.concat(
    Object.entries(values).flatMap(([name, value]) => [
      u32(name.length + 1 + value.byteLength),
      Buffer.from(`${name}=`),
      value,
    ]),
  );
}

function u8(value: number): Buffer {
  return Buffer.of(value);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function rosTime(timeNs: bigint): Buffer {
  return Buffer.concat([u32(Number(timeNs / 1_000_000_000n)), u32(Number(timeNs % 1_000_000_000n))]);
}

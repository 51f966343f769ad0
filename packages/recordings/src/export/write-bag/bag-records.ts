import { createHash } from "node:crypto";
import type { BagConnection } from "../../bag1/read-connections.ts";
import { magic, opcodes } from "../../bag1/records.ts";
import { RecordingError } from "../../faults/reasons.ts";

/** Where the first chunk begins. */
export const BAG_HEAD_BYTES = 4117;

/** Spaces between `beginBagHead` and `endBagHead`. */
export const PADDING_BYTES = 4007;

/**
 * Encodes the bag's head up to its padding. Other writers put the padding behind the numbers. Here it stands as a field before them, so
 * that the head can be sent before the numbers are known, and its reader sees that the stream goes on.
 */
export function beginBagHead(): Buffer {
  const padding = Buffer.concat([u32(paddingName.byteLength + PADDING_BYTES), paddingName]);
  return Buffer.concat([magic, u32(HEADER_BYTES), encodeFields({ op: u8(opcodes.bagHeader) }), padding]);
}

const paddingName = Buffer.from("padding=");

/** Header and data together are 4096 bytes. Some readers take a header of at most 4088. spec: ROS bag format 2.0 */
const HEADER_BYTES = 4088;
const DATA_BYTES = 8;

export interface BagNumbers {
  readonly indexPosition: number;
  readonly connectionCount: number;
  readonly chunkCount: number;
}

export function endBagHead({ indexPosition, connectionCount, chunkCount }: BagNumbers): Buffer {
  const fields = { index_pos: u64(indexPosition), conn_count: u32(connectionCount), chunk_count: u32(chunkCount) };
  return Buffer.concat([encodeFields(fields), u32(DATA_BYTES), Buffer.alloc(DATA_BYTES, " ")]);
}

/** Numbers the connections of the written bag in the order of their first messages. Byte-identical connections get one number. */
export interface ConnectionTable {
  /** `newRecord` is the connection's record if this is its first message in the bag. It must stand before the message. */
  introduce(connection: BagConnection): { id: number; newRecord?: Buffer };
  /** The records in the order of their numbers. */
  readonly records: readonly Buffer[];
}

export function createConnectionTable(): ConnectionTable {
  const known = new Map<BagConnection, { id: number }>();
  const idsByContent = new Map<string, number>();
  const records: Buffer[] = [];

  const introduceObject = (connection: BagConnection): { id: number; newRecord?: Buffer } => {
    const content = createHash("sha256").update(encodeConnection(connection, 0)).digest("base64");
    const id = idsByContent.get(content) ?? records.length;
    known.set(connection, { id });
    if (id < records.length) return { id };
    idsByContent.set(content, id);
    const newRecord = encodeConnection(connection, id);
    records.push(newRecord);
    return { id, newRecord };
  };

  return { introduce: (connection) => known.get(connection) ?? introduceObject(connection), records };
}

function encodeConnection({ topic, header }: BagConnection, id: number): Buffer {
  return encodeRecord({ op: u8(opcodes.connection), topic, conn: u32(id) }, header);
}

/** Both numbers are unsigned and 32 bits wide. spec: ROS bag format 2.0 */
export interface RosTime {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** Throws `InvalidTime` outside of the years 1970 to 2106. */
export function toRosTime(timeNs: bigint): RosTime {
  const seconds = timeNs / NS_PER_SECOND;
  if (timeNs >= 0n && seconds <= MAX_SECONDS) {
    return { seconds: Number(seconds), nanoseconds: Number(timeNs % NS_PER_SECOND) };
  }
  const text = `a message has the time ${timeNs} ns; a ROS 1 bag holds times from 1970 to 2106. Export it as MCAP`;
  throw new RecordingError("InvalidTime", text);
}

const NS_PER_SECOND = 1_000_000_000n;
const MAX_SECONDS = 2n ** 32n - 1n;

/** A record is a header of named fields, then data, each behind its length. spec: ROS bag format 2.0 */
export type Fields = Record<string, Uint8Array>;

export function encodeRecord(fields: Fields, data: Uint8Array): Buffer {
  return Buffer.concat([encodeHead(fields, data.byteLength), data]);
}

/** Encodes a record up to its data. */
export function encodeHead(fields: Fields, dataBytes: number): Buffer {
  const header = encodeFields(fields);
  return Buffer.concat([u32(header.byteLength), header, u32(dataBytes)]);
}

export function encodeFields(fields: Fields): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    u32(name.length + 1 + value.byteLength),
    Buffer.from(`${name}=`),
    value,
  ]);
  return Buffer.concat(parts);
}

export function u8(value: number): Buffer {
  return Buffer.of(value);
}

export function u32(value: number): Buffer {
  return u32Row([value]);
}

/** Encodes values one after another. */
export function u32Row(values: readonly number[] | Uint32Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}

export function u64(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

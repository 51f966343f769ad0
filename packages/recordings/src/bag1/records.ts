import type { ReasonCode } from "../faults/reasons.ts";
import {
  type FieldCursor,
  openCursor,
  type Place,
  readBytes,
  readSize,
  readU32,
  refuse,
  toText,
  toValidTime,
} from "../reading/field-cursor.ts";
import type { Channel, Schema } from "../survey/survey.ts";

/** spec: ROS bag format 2.0. */
export const opcodes = {
  message: 0x02,
  bagHeader: 0x03,
  indexData: 0x04,
  chunk: 0x05,
  chunkInfo: 0x06,
  connection: 0x07,
} as const;

export const magic = Buffer.from("#ROSBAG V2.0\n", "latin1");

/** The fields of a record's header. */
export interface BagHeader {
  readonly fields: Map<string, Uint8Array>;
  readonly place: Place;
  readonly code: ReasonCode;
}

export function parseHeader(bytes: Uint8Array, place: Place, code: ReasonCode): BagHeader {
  const cursor = openCursor(bytes, place, code);
  const fields = new Map<string, Uint8Array>();
  while (cursor.position < bytes.byteLength) {
    const field = readBytes(cursor, readU32(cursor));
    const split = field.indexOf(0x3d);
    if (split < 1) refuse(cursor, "has a header field without a name");
    if (fields.size >= MAX_FIELDS) refuse(cursor, `has more than ${MAX_FIELDS} header fields`);
    fields.set(toText(field.subarray(0, split)), field.subarray(split + 1));
  }
  return { fields, place, code };
}

const MAX_FIELDS = 1000;

export function opcodeOf(header: BagHeader): number {
  return openField(header, "op", 1).bytes[0]!;
}

export function u32Of(header: BagHeader, name: string): number {
  return readU32(openField(header, name, 4));
}

export function u64Of(header: BagHeader, name: string): number {
  return readSize(openField(header, name, 8));
}

export function timeOf(header: BagHeader, name: string): bigint {
  return readRosTime(openField(header, name, 8));
}

export function textOf(header: BagHeader, name: string): string {
  return toText(openField(header, name).bytes);
}

/** Answers a copy. */
export function bytesOf(header: BagHeader, name: string): Uint8Array {
  return new Uint8Array(openField(header, name).bytes);
}

export function readRosTime(cursor: FieldCursor): bigint {
  const seconds = readU32(cursor);
  const nanoseconds = readU32(cursor);
  if (nanoseconds >= 1_000_000_000) refuse(cursor, `has a time with ${nanoseconds} nanoseconds in its second`);
  return toValidTime(BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds), cursor.place);
}

function openField({ fields, place, code }: BagHeader, name: string, length?: number): FieldCursor {
  const bytes = fields.get(name);
  const cursor = openCursor(bytes ?? new Uint8Array(0), place, code);
  if (!bytes || (length !== undefined && bytes.byteLength !== length))
    refuse(cursor, `lacks the header field "${name}"`);
  return cursor;
}

export interface Connection {
  readonly schema: Schema;
  readonly channel: Channel;
}

/** Makes a channel of a connection and a schema with the same id of its message definition. Every other field stays with the channel. */
export function readConnection(header: BagHeader, data: Uint8Array): Connection {
  const id = u32Of(header, "conn") + 1;
  const { fields } = parseHeader(data, header.place, header.code);
  const topic = textOf(header, "topic");
  const text = (name: string) => toText(fields.get(name) ?? new Uint8Array(0));
  const metadata: [string, string][] = [];
  for (const name of fields.keys()) {
    // If the topic has another name than the one under which its messages are stored, it was remapped.
    if (name !== "type" && name !== "message_definition" && !(name === "topic" && text(name) === topic))
      metadata.push([name, text(name)]);
  }
  return {
    schema: {
      id,
      name: text("type"),
      encoding: "ros1msg",
      data: fields.get("message_definition") ?? new Uint8Array(0),
    },
    // `fromEntries` is used because a field may be named "__proto__", which an assignment would not store.
    channel: { id, schemaId: id, topic, messageEncoding: "ros1", metadata: Object.fromEntries(metadata) },
  };
}

/** Connections are numbered from 0. Channel ids are numbered from 1, because schema id 0 means "none". */
export function channelIdOf(header: BagHeader): number {
  return u32Of(header, "conn") + 1;
}

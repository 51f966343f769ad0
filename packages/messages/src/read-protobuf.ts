import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { DecodeError, type Limits, MAX_DEPTH, MAX_VALUES, type Struct, type Value } from "./value.ts";

/** A message type, resolved from descriptors. */
export interface ProtobufType {
  readonly fields: ReadonlyMap<number, ProtobufField>;
}

export interface ProtobufField {
  readonly number: number;
  readonly name: string;
  /** One of `scalars`. */
  readonly type: number;
  readonly isRepeated: boolean;
  /** Whether the field is in a oneof: then a missing value stays absent. */
  readonly isInOneof: boolean;
  /** The type of a message's field. */
  readonly message?: () => ProtobufType;
}

/** The types of fields by the numbers of descriptor.proto. */
export const scalars = {
  ...{ DOUBLE: 1, FLOAT: 2, INT64: 3, UINT64: 4, INT32: 5, FIXED64: 6, FIXED32: 7, BOOL: 8, STRING: 9 },
  ...{ GROUP: 10, MESSAGE: 11, BYTES: 12, UINT32: 13, ENUM: 14, SFIXED32: 15, SFIXED64: 16, SINT32: 17, SINT64: 18 },
} as const;

/**
 * Reads a message field by field, instead of by a library's reader, which makes as many objects as the bytes ask for: two bytes are
 * enough for one of a hundred. Bytes stay views of the message.
 */
export function readProtobuf(type: ProtobufType, data: Uint8Array, { maxValues = MAX_VALUES }: Limits = {}): Struct {
  const reading: Reading = { reader: new BinaryReader(data), valuesLeft: maxValues };
  try {
    return readMessage(type, reading, { endAt: data.byteLength, depth: 0 });
  } catch (cause) {
    if (cause instanceof DecodeError) throw cause;
    throw new DecodeError("The message does not match its schema.", { cause });
  }
}

interface Reading {
  readonly reader: BinaryReader;
  valuesLeft: number;
}

interface Part {
  readonly endAt: number;
  readonly depth: number;
}

function readMessage(type: ProtobufType, reading: Reading, { endAt, depth }: Part): Struct {
  if (depth > MAX_DEPTH) throw new DecodeError(`Parts lie more than ${MAX_DEPTH} deep in each other.`);
  const message = withDefaults(type, reading);
  while (reading.reader.pos < endAt) {
    const [number, wireType] = reading.reader.tag();
    const field = type.fields.get(number);
    if (!field) reading.reader.skip(wireType, number);
    else readField(field, { message, reading, wireType, part: { endAt, depth } });
  }
  if (reading.reader.pos > endAt) throw new DecodeError("A part of the message is longer than what contains it.");
  return message;
}

/** Missing fields have their default, so that a line of zeros is drawn as one. */
function withDefaults({ fields }: ProtobufType, reading: Reading): Struct {
  const message: Struct = {};
  for (const field of fields.values()) {
    if (field.isInOneof) continue;
    spend(reading);
    message[field.name] = field.isRepeated ? [] : defaultOf(field);
  }
  return message;
}

function defaultOf({ type }: ProtobufField): Value {
  switch (type) {
    case scalars.MESSAGE:
      return null;
    case scalars.STRING:
      return "";
    case scalars.BYTES:
      return new Uint8Array();
    case scalars.BOOL:
      return false;
    default:
      return 0;
  }
}

interface Place {
  readonly message: Struct;
  readonly reading: Reading;
  readonly wireType: WireType;
  readonly part: Part;
}

function readField(field: ProtobufField, { message, reading, wireType, part }: Place): void {
  if (!field.isRepeated) {
    message[field.name] = readOne(field, reading, part);
    return;
  }
  const list = message[field.name] as Value[];
  if (wireType === WireType.LengthDelimited && isPackable(field)) {
    const endAt = lengthEnd(reading, part);
    while (reading.reader.pos < endAt) list.push(readOne(field, reading, part));
  } else list.push(readOne(field, reading, part));
}

function isPackable({ type }: ProtobufField): boolean {
  return type !== scalars.MESSAGE && type !== scalars.STRING && type !== scalars.BYTES;
}

function readOne({ message, type }: ProtobufField, reading: Reading, part: Part): Value {
  spend(reading);
  if (!message) return readers.get(type)!(reading.reader);
  return readMessage(message(), reading, { endAt: lengthEnd(reading, part), depth: part.depth + 1 });
}

function lengthEnd({ reader }: Reading, { endAt }: Part): number {
  const end = reader.uint32() + reader.pos;
  if (end > endAt) throw new DecodeError("A part of the message is longer than what contains it.");
  return end;
}

function spend(reading: Reading): void {
  reading.valuesLeft -= 1;
  if (reading.valuesLeft < 0) throw new DecodeError("The message has too many values to be decoded.");
}

const readers: ReadonlyMap<number, (reader: BinaryReader) => Value> = new Map<number, (reader: BinaryReader) => Value>([
  [scalars.DOUBLE, (reader) => reader.double()],
  [scalars.FLOAT, (reader) => reader.float()],
  [scalars.INT64, (reader) => reader.int64()],
  [scalars.UINT64, (reader) => reader.uint64()],
  [scalars.INT32, (reader) => reader.int32()],
  [scalars.FIXED64, (reader) => reader.fixed64()],
  [scalars.FIXED32, (reader) => reader.fixed32()],
  [scalars.BOOL, (reader) => reader.bool()],
  [scalars.STRING, (reader) => reader.string()],
  [scalars.BYTES, (reader) => reader.bytes()],
  [scalars.UINT32, (reader) => reader.uint32()],
  [scalars.ENUM, (reader) => reader.int32()],
  [scalars.SFIXED32, (reader) => reader.sfixed32()],
  [scalars.SFIXED64, (reader) => reader.sfixed64()],
  [scalars.SINT32, (reader) => reader.sint32()],
  [scalars.SINT64, (reader) => reader.sint64()],
]);

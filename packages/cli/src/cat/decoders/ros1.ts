// The definitions are interpreted. `@foxglove/rosmsg-serialization`, the library for ROS 1, compiles JavaScript of them, and a recording may
// come from anywhere.

import { parse } from "@foxglove/rosmsg";
import type { Decode } from "./decoding.ts";
import { jsonText } from "./json-text.ts";

type Field = ReturnType<typeof parse>[number]["definitions"][number];

interface Reading {
  readonly types: ReadonlyMap<string, readonly Field[]>;
  readonly view: DataView;
  at: number;
  valuesLeft: number;
}

/** A list of parts without bytes would fill the memory. */
const MAX_VALUES = 2_000_000;

/** source: https://wiki.ros.org/msg: fields in their order, little-endian and nothing aligned. */
export function decodeRos1(schema: Uint8Array): Decode {
  const definitions = parse(new TextDecoder().decode(schema));
  const root = definitions[0]?.definitions;
  if (!root) throw new Error("the schema defines no message");
  const types = new Map(definitions.map(({ name, definitions: fields }) => [name ?? "", fields]));
  return (data) => {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    return jsonText(readFields({ types, view, at: 0, valuesLeft: MAX_VALUES }, root));
  };
}

function readFields(reading: Reading, fields: readonly Field[]): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  for (const field of fields) if (!field.isConstant) message[field.name] = readField(reading, field);
  return message;
}

function readField(reading: Reading, field: Field): unknown {
  if (!field.isArray) return readOne(reading, field);
  const length = field.arrayLength ?? readLength(reading);
  if (field.type === "uint8") return readBytes(reading, length);
  const values: unknown[] = [];
  for (let index = 0; index < length; index += 1) values.push(readOne(reading, field));
  return values;
}

function readOne(reading: Reading, { type, isComplex }: Field): unknown {
  reading.valuesLeft -= 1;
  if (reading.valuesLeft < 0) throw new Error(`the message has more than ${MAX_VALUES} values`);
  if (isComplex) return readFields(reading, findType(reading, type));
  if (type === "string") return new TextDecoder().decode(readBytes(reading, readLength(reading)));
  const number = numbers.get(type);
  if (!number) throw new Error(`values of the type ${type} are not decoded`);
  return number.read(reading.view, take(reading, number.sizeBytes));
}

function findType({ types }: Reading, name: string): readonly Field[] {
  const fields = types.get(name);
  if (!fields) throw new Error(`the schema does not define ${name}`);
  return fields;
}

function readLength(reading: Reading): number {
  return reading.view.getUint32(take(reading, 4), true);
}

function readBytes(reading: Reading, length: number): Uint8Array {
  const { buffer, byteOffset } = reading.view;
  return new Uint8Array(buffer, byteOffset + take(reading, length), length);
}

/** Moves on by so many bytes and returns where they begin. */
function take(reading: Reading, sizeBytes: number): number {
  const { at, view } = reading;
  if (at + sizeBytes > view.byteLength) throw new Error("the message ends before its last field");
  reading.at = at + sizeBytes;
  return at;
}

interface NumberType {
  readonly sizeBytes: number;
  read(view: DataView, at: number): unknown;
}

const numbers: ReadonlyMap<string, NumberType> = new Map<string, NumberType>([
  ["bool", { sizeBytes: 1, read: (view, at) => view.getUint8(at) !== 0 }],
  ["int8", { sizeBytes: 1, read: (view, at) => view.getInt8(at) }],
  ["uint8", { sizeBytes: 1, read: (view, at) => view.getUint8(at) }],
  ["int16", { sizeBytes: 2, read: (view, at) => view.getInt16(at, true) }],
  ["uint16", { sizeBytes: 2, read: (view, at) => view.getUint16(at, true) }],
  ["int32", { sizeBytes: 4, read: (view, at) => view.getInt32(at, true) }],
  ["uint32", { sizeBytes: 4, read: (view, at) => view.getUint32(at, true) }],
  ["int64", { sizeBytes: 8, read: (view, at) => view.getBigInt64(at, true) }],
  ["uint64", { sizeBytes: 8, read: (view, at) => view.getBigUint64(at, true) }],
  ["float32", { sizeBytes: 4, read: (view, at) => view.getFloat32(at, true) }],
  ["float64", { sizeBytes: 8, read: (view, at) => view.getFloat64(at, true) }],
  [
    "time",
    { sizeBytes: 8, read: (view, at) => ({ sec: view.getUint32(at, true), nsec: view.getUint32(at + 4, true) }) },
  ],
  [
    "duration",
    { sizeBytes: 8, read: (view, at) => ({ sec: view.getInt32(at, true), nsec: view.getInt32(at + 4, true) }) },
  ],
]);

import { type ProtobufField, type ProtobufType, readProtobuf, scalars } from "./read-protobuf.ts";
import { type Decode, DecodeError, type Limits, partOf, type Struct, type Value } from "./value.ts";

/** Descriptors take many times their bytes when they are read. */
const MAX_DESCRIPTOR_BYTES = 4 * 1024 * 1024;

/** Reads by the descriptors that the recording has: a FileDescriptorSet, as MCAP prescribes for `protobuf`. */
export function decodeProtobuf(schema: Uint8Array, typeName: string, limits: Limits = {}): Decode {
  if (schema.byteLength > MAX_DESCRIPTOR_BYTES) {
    throw new DecodeError(
      `The schema has ${schema.byteLength} bytes, more than the ${MAX_DESCRIPTOR_BYTES} that are read.`,
    );
  }
  const type = findType(schema, typeName);
  return (data) => readProtobuf(type, data, limits);
}

/** Reads descriptors with the reader of messages itself, and resolves the type of this name. source: google/protobuf/descriptor.proto */
export function findType(schema: Uint8Array, typeName: string): ProtobufType {
  const types = new Map<string, ProtobufType>();
  for (const file of listOf(readSet(schema), "file")) {
    const within = textOf(file, "package");
    for (const message of listOf(file, "message_type")) declare(message, within === "" ? "" : `.${within}`, types);
  }
  const type = types.get(`.${typeName}`);
  if (!type) throw new DecodeError(`The schema does not define ${typeName}.`);
  return type;
}

function readSet(schema: Uint8Array): Value {
  try {
    return readProtobuf(FILE_SET, schema);
  } catch (cause) {
    throw new DecodeError("The schema cannot be read as a set of protobuf descriptors.", { cause });
  }
}

const LABEL_REPEATED = 3;
const { STRING, INT32, MESSAGE, GROUP, ENUM } = scalars;

const DESCRIPTOR: ProtobufType = { fields: new Map() };
const FIELD = typeOf([
  one(1, "name", STRING),
  one(3, "number", INT32),
  one(4, "label", INT32),
  one(5, "type", INT32),
  one(6, "type_name", STRING),
  { ...one(9, "oneof_index", INT32), isInOneof: true },
]);
for (const field of [one(1, "name", STRING), many(2, "field", FIELD), many(3, "nested_type", DESCRIPTOR)])
  (DESCRIPTOR.fields as Map<number, ProtobufField>).set(field.number, field);
const FILE_SET = typeOf([many(1, "file", typeOf([one(2, "package", STRING), many(4, "message_type", DESCRIPTOR)]))]);

function one(number: number, name: string, type: number): ProtobufField {
  return { number, name, type, isRepeated: false, isInOneof: false };
}

function many(number: number, name: string, type: ProtobufType): ProtobufField {
  return { number, name, type: MESSAGE, isRepeated: true, isInOneof: false, message: () => type };
}

function typeOf(fields: readonly ProtobufField[]): ProtobufType {
  return { fields: new Map(fields.map((field) => [field.number, field])) };
}

/** Adds a message and those within it. The types of their fields are looked up when they are read, because they may come later. */
function declare(message: Struct, within: string, types: Map<string, ProtobufType>): void {
  const name = `${within}.${textOf(message, "name")}`;
  const fields = listOf(message, "field").map((field) => fieldOf(field, types));
  types.set(name, { fields: new Map(fields.map((field) => [field.number, field])) });
  for (const nested of listOf(message, "nested_type")) declare(nested, name, types);
}

function fieldOf(field: Struct, types: ReadonlyMap<string, ProtobufType>): ProtobufField {
  const name = textOf(field, "name");
  const typeName = textOf(field, "type_name");
  if (name === "__proto__") throw new DecodeError("A field has the name __proto__, which is not shown.");
  const type = Number(field.type);
  const isKnown = type === ENUM || type === MESSAGE || (type !== GROUP && Object.values(scalars).includes(type));
  if (!isKnown) throw new DecodeError(`The field ${name} has a protobuf type that is not supported (${type}).`);
  const message = () => {
    const found = types.get(typeName);
    if (!found) throw new DecodeError(`The schema does not define ${typeName}.`);
    return found;
  };
  const about = { name, number: Number(field.number), type, isRepeated: field.label === LABEL_REPEATED };
  return { ...about, isInOneof: "oneof_index" in field, ...(type === MESSAGE ? { message } : {}) };
}

function listOf(message: Value, name: string): Struct[] {
  return (partOf(message, name) ?? []) as Struct[];
}

function textOf(message: Value, name: string): string {
  return String(partOf(message, name) ?? "");
}

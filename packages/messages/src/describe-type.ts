import type { Encoded } from "./decode.ts";
import { findType } from "./protobuf.ts";
import { type ProtobufField, type ProtobufType, scalars } from "./read-protobuf.ts";
import { numberTypes } from "./ros-bytes.ts";
import { type RosField, type RosStruct, readRosTypes } from "./ros-types.ts";
import { DecodeError, MAX_DEPTH } from "./value.ts";

type NumberName = `${"int" | "uint"}${8 | 16 | 32 | 64}` | "float32" | "float64";
/** `any`: a type within itself, whose values may lie in each other as deep as they like. */
export type ScalarName = NumberName | "bool" | "text" | "bytes" | "any";
/** The type of all values that a decoder gives for a schema, as a tree. Any of them may be missing. */
export type ValueType = ScalarName | ListType | StructType;
export interface ListType {
  readonly list: ValueType;
}
export interface StructType {
  readonly fields: ReadonlyMap<string, ValueType>;
}

/** The most fields of a type, with those of its parts. A short schema can ask for any number of them. */
const MAX_FIELDS = 5000;

/** Describes the messages of a schema; undefined for JSON, which brings no types. Throws {@link DecodeError} as the decoder does. */
export function describeType({ messageEncoding, schemaEncoding, schemaName, schema }: Encoded): StructType | undefined {
  const describing: Describing = { left: MAX_FIELDS };
  if (messageEncoding === "json") return undefined;
  if (messageEncoding === "protobuf") return describeMessage(findType(schema, schemaName), describing, []);
  const isRos2 = messageEncoding === "cdr";
  if (messageEncoding === "ros1" || (isRos2 && schemaEncoding === "ros2msg"))
    return describeStruct(readRosTypes(schema, { isRos2 }), { ...describing, isRos2 });
  throw new DecodeError(`The types of messages in ${messageEncoding || "no known encoding"} are not known.`);
}

interface Describing {
  left: number;
}

function spend(describing: Describing): void {
  describing.left -= 1;
  if (describing.left < 0) throw new DecodeError(`The schema has more than ${MAX_FIELDS} fields.`);
}

interface DescribingRos extends Describing {
  readonly isRos2: boolean;
}

function describeStruct({ fields }: RosStruct, describing: DescribingRos): StructType {
  return { fields: new Map(fields.map((field) => [field.name, describeField(field, describing)])) };
}

function describeField({ type, arrayLength }: RosField, describing: DescribingRos): ValueType {
  spend(describing);
  const one = typeof type === "string" ? describeBuiltIn(type, describing.isRos2) : describeStruct(type, describing);
  if (arrayLength === undefined) return one;
  return one === "uint8" ? "bytes" : { list: one };
}

function describeBuiltIn(type: string, isRos2: boolean): ValueType {
  if (type === "byte" || type === "char") return "uint8";
  if (numberTypes.has(type)) return type as NumberName;
  if (type === "bool") return "bool";
  if (type === "string") return "text";
  const isTime = type === "time";
  if (!isTime && type !== "duration") throw new DecodeError(`Values of the type ${type} cannot be read.`);
  const seconds = isTime && !isRos2 ? "uint32" : "int32";
  const rest = isTime || isRos2 ? "uint32" : "int32";
  const names = new Map<string, ValueType>([
    ["sec", seconds],
    [isRos2 ? "nanosec" : "nsec", rest],
  ]);
  return { fields: names };
}

/** `open` holds the types around this one. */
function describeMessage(type: ProtobufType, describing: Describing, open: readonly ProtobufType[]): StructType {
  const fields = new Map<string, ValueType>();
  for (const field of type.fields.values()) {
    spend(describing);
    const one = describeOne(field, describing, [...open, type]);
    fields.set(field.name, field.isRepeated ? { list: one } : one);
  }
  return { fields };
}

function describeOne({ type, message }: ProtobufField, describing: Describing, open: readonly ProtobufType[]) {
  if (!message) return protobufNames.get(type)!;
  const inner = message();
  return open.includes(inner) || open.length > MAX_DEPTH ? "any" : describeMessage(inner, describing, open);
}

const protobufNames: ReadonlyMap<number, ScalarName> = new Map<number, ScalarName>([
  [scalars.DOUBLE, "float64"],
  [scalars.FLOAT, "float32"],
  ...[scalars.INT64, scalars.SFIXED64, scalars.SINT64].map((type) => [type, "int64"] as const),
  ...[scalars.UINT64, scalars.FIXED64].map((type) => [type, "uint64"] as const),
  ...[scalars.INT32, scalars.SFIXED32, scalars.SINT32, scalars.ENUM].map((type) => [type, "int32"] as const),
  ...[scalars.UINT32, scalars.FIXED32].map((type) => [type, "uint32"] as const),
  [scalars.BOOL, "bool"],
  [scalars.STRING, "text"],
  [scalars.BYTES, "bytes"],
]);

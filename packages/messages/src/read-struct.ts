import {
  numberTypes,
  type RosBytes,
  readLength,
  readNumber,
  readNumbers,
  readText,
  spendValue,
  take,
} from "./ros-bytes.ts";
import type { RosField, RosStruct } from "./ros-types.ts";
import { DecodeError, type Struct, type Value } from "./value.ts";

/** Reads the fields of a type one after the other. It interprets the definition: no code is made of what a recording says. */
export function readStruct(struct: RosStruct, bytes: RosBytes): Struct {
  const message: Struct = {};
  if (struct.fields.length === 0) take(bytes, bytes.emptyBytes, 1);
  for (const field of struct.fields) message[field.name] = readField(field, bytes);
  return message;
}

function readField({ type, arrayLength }: RosField, bytes: RosBytes): Value {
  if (arrayLength === undefined) return readOne(type, bytes);
  const length = arrayLength === "counted" ? readLength(bytes) : arrayLength;
  const numbers = typeof type === "string" ? numberTypes.get(type) : undefined;
  if (numbers) return readNumbers(bytes, numbers, length);
  const values: Value[] = [];
  for (let index = 0; index < length; index += 1) values.push(readOne(type, bytes));
  return values;
}

function readOne(type: string | RosStruct, bytes: RosBytes): Value {
  spendValue(bytes);
  if (typeof type !== "string") return readStruct(type, bytes);
  const number = numberTypes.get(type);
  if (number) return readNumber(bytes, number);
  switch (type) {
    case "bool":
      return bytes.view.getUint8(take(bytes, 1, 1)) !== 0;
    case "string":
      return readText(bytes);
    case "time":
    case "duration":
      return readTime(type, bytes);
    default:
      throw new DecodeError(`Values of the type ${type} cannot be read.`);
  }
}

/** In ROS 1 a time is of two unsigned numbers and a duration of two signed ones; in ROS 2 both have signed seconds. */
function readTime(type: "time" | "duration", bytes: RosBytes): Struct {
  const { view, isLittleEndian, nanoseconds } = bytes;
  const isSigned = type === "duration" || nanoseconds === "nanosec";
  const secondsAt = take(bytes, 4, 4);
  const nanosecondsAt = take(bytes, 4, 4);
  const sec = isSigned ? view.getInt32(secondsAt, isLittleEndian) : view.getUint32(secondsAt, isLittleEndian);
  const isSignedRest = type === "duration" && nanoseconds === "nsec";
  const rest = isSignedRest
    ? view.getInt32(nanosecondsAt, isLittleEndian)
    : view.getUint32(nanosecondsAt, isLittleEndian);
  return { sec, [nanoseconds]: rest };
}

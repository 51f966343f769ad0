import { readStruct } from "./read-struct.ts";
import { readRosTypes } from "./ros-types.ts";
import { type Decode, DecodeError, type Limits, MAX_VALUES } from "./value.ts";

/** source: https://wiki.ros.org/msg and the serialization that ROS 1 gives them: little-endian, nothing aligned. */
export function decodeRos1(schema: Uint8Array, { maxValues = MAX_VALUES }: Limits = {}): Decode {
  const struct = readRosTypes(schema, { isRos2: false });
  return (data) =>
    readStruct(struct, {
      view: new DataView(data.buffer, data.byteOffset, data.byteLength),
      isLittleEndian: true,
      originBytes: 0,
      maxAlignmentBytes: 1,
      isNulTerminated: false,
      nanoseconds: "nsec",
      emptyBytes: 0,
      at: 0,
      valuesLeft: maxValues,
    });
}

/**
 * Reads CDR, as ROS 2 stores it. source: OMG DDS-XTypes 1.3, 7.4.3.4 and 7.6.2.1.2. The plain forms alone: ROS 2 writes no lists of
 * parameters.
 */
export function decodeRos2(schema: Uint8Array, { maxValues = MAX_VALUES }: Limits = {}): Decode {
  const struct = readRosTypes(schema, { isRos2: true });
  return (data) => {
    if (data.byteLength < HEADER_BYTES) throw new DecodeError("The message is shorter than the header of CDR.");
    const maxAlignmentBytes = alignmentByKind.get(data[1]!);
    if (!maxAlignmentBytes)
      throw new DecodeError(`The message is in a form of CDR that is not supported (${data[1]}).`);
    return readStruct(struct, {
      view: new DataView(data.buffer, data.byteOffset, data.byteLength),
      isLittleEndian: data[1]! % 2 === 1,
      originBytes: HEADER_BYTES,
      maxAlignmentBytes,
      isNulTerminated: true,
      nanoseconds: "nanosec",
      emptyBytes: 1,
      at: HEADER_BYTES,
      valuesLeft: maxValues,
    });
  };
}

const HEADER_BYTES = 4;

/** By the second byte of the header. The second version aligns numbers of eight bytes as those of four. */
const alignmentByKind: ReadonlyMap<number, number> = new Map([
  [0x00, 8],
  [0x01, 8],
  [0x06, 4],
  [0x07, 4],
  [0x10, 4],
  [0x11, 4],
]);

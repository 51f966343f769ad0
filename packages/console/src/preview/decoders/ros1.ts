import { readStruct } from "./read-struct.ts";
import { readRosTypes } from "./ros-types.ts";
import { type Decode, MAX_VALUES } from "./value.ts";

/** source: https://wiki.ros.org/msg and the serialization that ROS 1 gives them: little-endian, nothing aligned. */
export function decodeRos1(schema: Uint8Array): Decode {
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
      valuesLeft: MAX_VALUES,
    });
}

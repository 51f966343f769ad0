import { characterAt, LAST_CHARACTER } from "@downlink/recordings/testing";
import { parse } from "@foxglove/rosmsg";
import { MessageWriter } from "@foxglove/rosmsg2-serialization";
import fc from "fast-check";

/** A definition with each kind of field. */
export const ROS2_SCHEMA = `int8 K=4
bool a
int64 b
uint16[] c
float64[3] d
a/Inner e
a/Inner[] f
string g
string[2] h
builtin_interfaces/Time i
a/Nothing j
bool[] k
float32[<=5] l
${"=".repeat(80)}
MSG: a/Inner
uint8 small
float64 large
int16[] list
${"=".repeat(80)}
MSG: a/Nothing
${"=".repeat(80)}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
`;

const inner = fc.record({
  small: fc.nat(255),
  large: fc.double(),
  list: fc.array(fc.integer({ min: -32768, max: 32767 })).map((list) => Int16Array.from(list)),
});
/** Messages of that definition, for a writer of CDR. */
export const ros2Messages = fc.record({
  a: fc.boolean(),
  b: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  c: fc.array(fc.nat(65535)).map((list) => Uint16Array.from(list)),
  d: fc.array(fc.double(), { minLength: 3, maxLength: 3 }).map((list) => Float64Array.from(list)),
  e: inner,
  f: fc.array(inner, { maxLength: 4 }),
  g: fc.string({ unit: fc.nat(LAST_CHARACTER).map(characterAt) }),
  h: fc.tuple(fc.string(), fc.string()),
  i: fc.record({ sec: fc.integer(), nanosec: fc.nat() }),
  j: fc.constant({}),
  k: fc.array(fc.boolean()),
  l: fc.array(fc.float(), { maxLength: 5 }).map((list) => Float32Array.from(list)),
});

const writer = new MessageWriter(parse(ROS2_SCHEMA, { ros2: true }));

export function encodeRos2(message: unknown): Uint8Array {
  return writer.writeMessage(message);
}

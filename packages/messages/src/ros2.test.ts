import assert from "node:assert/strict";
import { test } from "node:test";
import { characterAt, LAST_CHARACTER, propertyRuns } from "@downlink/recordings/testing";
import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import fc from "fast-check";
import { decodeRos2 } from "./ros.ts";

const SCHEMA = `int8 K=4
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
const messages = fc.record({
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

test("messages are read as an independent library reads them", () => {
  const definitions = parse(SCHEMA, { ros2: true });
  const [writer, reader] = [new MessageWriter(definitions), new MessageReader(definitions)];
  const decode = decodeRos2(Buffer.from(SCHEMA));
  fc.assert(
    fc.property(messages, fc.nat(9), (message, shift) => {
      const written = writer.writeMessage(message);
      // The bytes begin at any place in memory, because views need an alignment there.
      const moved = Buffer.concat([Buffer.alloc(shift), written]).subarray(shift);
      assert.deepEqual(decode(moved), reader.readMessage(written));
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test("big-endian messages and those of the second version of CDR are read", () => {
  const decode = decodeRos2(Buffer.from("uint8 a\nfloat64[] b\nint64 c\n"));
  const first = Buffer.from("00000000 05000000 00000001 3ff0000000000000 0000000000000007".replaceAll(" ", ""), "hex");
  assert.deepEqual(decode(first), { a: 5, b: Float64Array.of(1), c: 7n });
  const second = Buffer.from("00070000 05000000 01000000 000000000000f03f 0700000000000000".replaceAll(" ", ""), "hex");
  assert.deepEqual(decode(second), { a: 5, b: Float64Array.of(1), c: 7n });
});

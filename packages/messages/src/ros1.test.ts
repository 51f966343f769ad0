import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeRos1 } from "./ros.ts";

test("a message of every type of ROS 1 is read, without alignment", () => {
  const names = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"];
  const schema = `uint8 K=3\nbool flag\n${names.map((name) => `${name} ${name}_field`).join("\n")}
time at
duration since
string text
byte[] bytes
char[2] letters
a/Point[] points
Header header
${"=".repeat(80)}
MSG: a/Point
float32 x
duration[1] d
${"=".repeat(80)}
MSG: std_msgs/Header
uint32 seq
time stamp
string frame_id
`;
  const bytes = [
    "01 ff fe feff feff feffffff feffffff",
    "feffffffffffffff feffffffffffffff 0000c03f 000000000000f03f",
    "ffffffff 05000000 ffffffff fbffffff",
    "03000000 c3a921 02000000 01ff 4142",
    "02000000 00000040 01000000 02000000 00004040 03000000 04000000",
    "07000000 01000000 02000000 03000000 6d6170",
  ];
  assert.deepEqual(decodeRos1(Buffer.from(schema))(Buffer.from(bytes.join("").replaceAll(" ", ""), "hex")), {
    flag: true,
    int8_field: -1,
    uint8_field: 254,
    int16_field: -2,
    uint16_field: 65_534,
    int32_field: -2,
    uint32_field: 4_294_967_294,
    int64_field: -2n,
    uint64_field: 2n ** 64n - 2n,
    float32_field: 1.5,
    float64_field: 1,
    at: { sec: 4_294_967_295, nsec: 5 },
    since: { sec: -1, nsec: -5 },
    text: "é!",
    bytes: Int8Array.of(1, -1),
    letters: Uint8Array.of(65, 66),
    points: [
      { x: 2, d: [{ sec: 1, nsec: 2 }] },
      { x: 3, d: [{ sec: 3, nsec: 4 }] },
    ],
    header: { seq: 7, stamp: { sec: 1, nsec: 2 }, frame_id: "map" },
  });
});

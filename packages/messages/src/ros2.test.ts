import assert from "node:assert/strict";
import { test } from "node:test";
import { propertyRuns } from "@downlink/recordings/testing";
import { parse } from "@foxglove/rosmsg";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import fc from "fast-check";
import { decodeRos2 } from "./ros.ts";
import { ROS2_SCHEMA, ros2Messages } from "./testing/every-ros2.ts";

test("messages are read as an independent library reads them", () => {
  const definitions = parse(ROS2_SCHEMA, { ros2: true });
  const [writer, reader] = [new MessageWriter(definitions), new MessageReader(definitions)];
  const decode = decodeRos2(Buffer.from(ROS2_SCHEMA));
  fc.assert(
    fc.property(ros2Messages, fc.nat(9), (message, shift) => {
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

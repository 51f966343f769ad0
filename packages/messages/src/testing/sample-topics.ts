import { create, createFileRegistry, toBinary } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { parse } from "@foxglove/rosmsg";
import { MessageWriter } from "@foxglove/rosmsg2-serialization";
import type { Encoded } from "../decode.ts";

/** A topic with its messages. */
export interface SampleTopic extends Encoded {
  readonly topic: string;
  readonly messages: readonly { readonly logTimeNs: bigint; readonly data: Uint8Array }[];
}

export const START_NS = 1_767_323_045_000_000_001n;
const STEP_NS = 10_000_000n;

/** Returns the number that message n has in its field `motion.x`, in each encoding. */
export function sampleX(index: number): number {
  return Math.fround(Math.sin(index / 10));
}

/** Makes one topic in each encoding, with the same values at the same times; `isThere` leaves messages out. */
export function sampleTopics(count: number, isThere: (index: number) => boolean = () => true): SampleTopic[] {
  const indexes = Array.from({ length: count }, (_, index) => index).filter(isThere);
  const fill = (topic: Omit<SampleTopic, "messages">, encode: (index: number) => Uint8Array): SampleTopic => ({
    ...topic,
    messages: indexes.map((index) => ({ logTimeNs: START_NS + BigInt(index) * STEP_NS, data: encode(index) })),
  });
  const ros2 = new MessageWriter(parse(ROS2_TEXT, { ros2: true }));
  return [
    fill(json, (index) => Buffer.from(JSON.stringify(valuesOf(index)))),
    fill(protobuf, encodeProtobuf),
    fill(
      { ...ros, topic: "/ros1", messageEncoding: "ros1", schemaEncoding: "ros1msg", schemaName: "a/Sample" },
      encodeRos1,
    ),
    fill(
      {
        ...ros,
        topic: "/ros2",
        messageEncoding: "cdr",
        schemaEncoding: "ros2msg",
        schemaName: "a/msg/Sample",
        schema: bytes(ROS2_TEXT),
      },
      (index) => ros2.writeMessage(valuesOf(index)),
    ),
  ];
}

export function valuesOf(index: number) {
  return { name: `sample ${index}`, is_on: index % 2 === 0, motion: { x: sampleX(index), y: 0.5 }, ranges: [1, index] };
}

const json = {
  topic: "/json",
  messageEncoding: "json",
  schemaEncoding: "jsonschema",
  schemaName: "a.Sample",
  schema: bytes("{}"),
};

const FIELDS = "string name\nbool is_on\na/Motion motion\nfloat32[] ranges\n";
const MOTION = `${"=".repeat(80)}\nMSG: a/Motion\nfloat32 x\nfloat64 y\n`;
const ROS1_TEXT = FIELDS + MOTION;
const ROS2_TEXT = ROS1_TEXT;
const ros = { schema: bytes(ROS1_TEXT) };

function encodeRos1(index: number): Uint8Array {
  const { name, is_on, motion, ranges } = valuesOf(index);
  const text = Buffer.from(name);
  const at = 4 + text.byteLength;
  const data = Buffer.alloc(at + 1 + 12 + 4 + 4 * ranges.length);
  data.writeUInt32LE(text.byteLength, 0);
  data.set(text, 4);
  data.writeUInt8(is_on ? 1 : 0, at);
  data.writeFloatLE(motion.x, at + 1);
  data.writeDoubleLE(motion.y, at + 5);
  data.writeUInt32LE(ranges.length, at + 13);
  for (const [place, range] of ranges.entries()) data.writeFloatLE(range, at + 17 + 4 * place);
  return data;
}

const { STRING, BOOL, MESSAGE, FLOAT, DOUBLE } = FieldDescriptorProto_Type;
const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label;

const descriptors = create(FileDescriptorSetSchema, {
  file: [
    {
      name: "sample.proto",
      package: "a",
      syntax: "proto3",
      messageType: [
        {
          name: "Sample",
          field: [
            { name: "name", number: 1, type: STRING, label: OPTIONAL },
            { name: "is_on", number: 2, type: BOOL, label: OPTIONAL },
            { name: "motion", number: 3, type: MESSAGE, typeName: ".a.Motion", label: OPTIONAL },
            { name: "ranges", number: 4, type: FLOAT, label: REPEATED },
          ],
        },
        {
          name: "Motion",
          field: [
            { name: "x", number: 1, type: FLOAT, label: OPTIONAL },
            { name: "y", number: 2, type: DOUBLE, label: OPTIONAL },
          ],
        },
      ],
    },
  ],
});
const registry = createFileRegistry(descriptors);
const protobuf = {
  topic: "/protobuf",
  messageEncoding: "protobuf",
  schemaEncoding: "protobuf",
  schemaName: "a.Sample",
  schema: toBinary(FileDescriptorSetSchema, descriptors),
};

function encodeProtobuf(index: number): Uint8Array {
  const type = registry.getMessage("a.Sample")!;
  const data = toBinary(type, create(type, valuesOf(index) as Record<string, unknown>));
  return data;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

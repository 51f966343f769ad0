import assert from "node:assert/strict";
import { test } from "node:test";
import { create, createFileRegistry, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { parse } from "@foxglove/rosmsg";
import { MessageWriter } from "@foxglove/rosmsg2-serialization";
import { makeDecode } from "./decode.ts";

const line = "=".repeat(80);
const TEXT = `int64 big\nfloat64[] ratios\nuint8[] bytes\nint8[2] small\nstring name\nbool on\ntime at\na/Part[] parts\nint32 MOST=3\n${line}\nMSG: a/Part\nfloat32 x\n`;
const ros = { schemaName: "a/A", schema: Buffer.from(TEXT) };
const ros1 = { ...ros, messageEncoding: "ros1", schemaEncoding: "ros1msg" };
const value = {
  big: "-9007199254740993",
  ratios: [0.5, "NaN", "-Infinity"],
  bytes: "AQL/",
  small: [-1, 2],
  name: "é",
  on: true,
};

/** The bytes of `value` as ROS 1 writes them. */
function encodeRos1(): Buffer {
  const data = Buffer.alloc(100);
  let at = data.writeBigInt64LE(-9_007_199_254_740_993n, 0);
  at = data.writeUInt32LE(3, at);
  for (const ratio of [0.5, Number.NaN, Number.NEGATIVE_INFINITY]) at = data.writeDoubleLE(ratio, at);
  at = data.writeUInt32LE(3, at);
  for (const byte of [1, 2, 255, 255, 2]) at = data.writeUInt8(byte, at);
  at = data.writeUInt32LE(2, at);
  at += data.write("é", at);
  at = data.writeUInt8(1, at);
  for (const number of [4_000_000_000, 7, 1]) at = data.writeUInt32LE(number, at);
  return data.subarray(0, data.writeFloatLE(1.5, at));
}

test("ROS 1 is read to its last byte: bytes as base64, large integers and what JSON does not have as texts", async () => {
  const [decode, data] = [await makeDecode(ros1), encodeRos1()];
  const whole = { ...value, at: { sec: 4_000_000_000, nsec: 7 }, parts: [{ x: 1.5 }] };
  assert.deepEqual(JSON.parse(decode(data)), whole);
  for (let length = 0; length < data.length; length += 1)
    assert.throws(() => decode(data.subarray(0, length)), /ends before its last field/);
});

test("ROS 2 is read as its own library writes it, with the same texts", async () => {
  const decode = await makeDecode({ ...ros, messageEncoding: "cdr", schemaEncoding: "ros2msg" });
  const data = new MessageWriter(parse(TEXT, { ros2: true })).writeMessage({
    ...{ big: -9_007_199_254_740_993n, ratios: [0.5, Number.NaN, Number.NEGATIVE_INFINITY], bytes: [1, 2, 255] },
    ...{ small: [-1, 2], name: "e", on: true, at: { sec: 4, nanosec: 7 }, parts: [{ x: 1.5 }] },
  });
  assert.deepEqual(JSON.parse(decode(data)), { ...value, name: "e", at: { sec: 4, nanosec: 7 }, parts: [{ x: 1.5 }] });
  // The library writes such a text too short, and reads it well.
  const text = { ...ros, schema: Buffer.from("string name\n"), messageEncoding: "cdr", schemaEncoding: "ros2msg" };
  assert.deepEqual(JSON.parse((await makeDecode(text))(Buffer.from("0001000003000000c3a900", "hex"))), { name: "é" });
});

test("protobuf is read by the descriptors of the recording, with the declared names and the values that are zero", async () => {
  const field = (number: number, name: string, type: Type) => ({ number, name, type, label: Label.OPTIONAL });
  const fields = [field(1, "big_count", Type.INT64), field(2, "raw_bytes", Type.BYTES), field(3, "x", Type.DOUBLE)];
  const file = [{ name: "a.proto", package: "a", syntax: "proto3", messageType: [{ name: "A", field: fields }] }];
  const set = create(FileDescriptorSetSchema, { file });
  const type = createFileRegistry(set).getMessage("a.A")!;
  const proto = { messageEncoding: "protobuf", schemaEncoding: "protobuf", schemaName: "a.A" };
  const decode = await makeDecode({ ...proto, schema: toBinary(FileDescriptorSetSchema, set) });
  const sent = create(type, { bigCount: 2n ** 60n, rawBytes: Uint8Array.of(1, 2, 255), x: Number.NaN } as Record<
    string,
    unknown
  >);
  const read = { big_count: "1152921504606846976", raw_bytes: "AQL/", x: "NaN" };
  assert.deepEqual(JSON.parse(decode(toBinary(type, sent))), read);
  assert.deepEqual(JSON.parse(decode(new Uint8Array())), { big_count: "0", raw_bytes: "", x: 0 });
  assert.throws(() => decode(Buffer.from("127f01", "hex")));
});

test("schemas that are none, and lists of four thousand million parts without bytes, are refused and take no memory", async () => {
  for (const messageEncoding of ["ros1", "cdr", "protobuf"]) {
    const schemaEncoding = messageEncoding === "cdr" ? "ros2msg" : "";
    const decode = await makeDecode({ ...ros, messageEncoding, schemaEncoding, schema: Buffer.from("{ \0") });
    assert.throws(() => decode(encodeRos1()), Error, messageEncoding);
  }
  const empty = `a/Empty[4000000000] all\n${line}\nMSG: a/Empty\n`;
  const decode = await makeDecode({ ...ros1, schema: Buffer.from(empty) });
  assert.throws(() => decode(Buffer.alloc(8)), /too many values/);
  const self = await makeDecode({ ...ros1, schema: Buffer.from(`a/A b\n${line}\nMSG: a/A\na/A[] c\n`) });
  assert.throws(() => self(Buffer.alloc(8).fill(255)));
});

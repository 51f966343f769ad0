import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { makeDecode } from "./decode.ts";
import { sampleTopics } from "./testing/sample-topics.ts";
import { DecodeError } from "./value.ts";

const line = "=".repeat(80);
const ros1 = (text: string) => makeRos("ros1", "ros1msg", text);
const ros2 = (text: string) => makeRos("cdr", "ros2msg", text);

function makeRos(messageEncoding: string, schemaEncoding: string, text: string) {
  return makeDecode({ messageEncoding, schemaEncoding, schemaName: "a/A", schema: Buffer.from(text) });
}

test("types that contain themselves, that are missing, and texts that are no schema are refused", () => {
  for (const make of [ros1, ros2]) {
    assert.throws(() => make(`a/B b\n${line}\nMSG: a/B\na/B[] c\n`), /contains itself/);
    assert.throws(() => make(`a/B b\n${line}\nMSG: a/B\na/C c\n${line}\nMSG: a/C\na/B[2] b\n`), /contains itself/);
    for (const text of ["a/Missing b\n", "\0\0\0", "float64", "{}", "<script>", "uint8 __proto__\n", "a b c d"]) {
      assert.throws(() => make(text), DecodeError, text);
    }
  }
});

test("types a thousand deep in each other are refused, those that branch a million times are read by need only", () => {
  const deep = Array.from({ length: 1000 }, (_, index) => `${line}\nMSG: a/T${index}\na/T${index + 1} x\n`).join("");
  assert.throws(() => ros1(`a/T0 x\n${deep}${line}\nMSG: a/T1000\nint8 x\n`), /more than 32 deep/);
  const branches = Array.from({ length: 25 }, (_, index) => `${line}\nMSG: a/T${index}\na/T${index + 1}[10] x\n`).join(
    "",
  );
  const decode = ros1(`a/T0 x\n${branches}${line}\nMSG: a/T25\nEmpty[10] none\n${line}\nMSG: a/Empty\n`);
  assert.throws(() => decode(new Uint8Array(10)), /too many values/);
});

test("a million fields in a schema or in JSON are refused before they are parsed", () => {
  const fields = "float64 f\n".repeat(1_000_000);
  for (const make of [ros1, ros2]) assert.throws(() => make(fields), /more than the 524288 that are read/);
  const json = makeDecode({ messageEncoding: "json", schemaEncoding: "", schemaName: "", schema: new Uint8Array() });
  const text = `{${'"fields":1,'.repeat(1_000_000)}"last":1}`;
  assert.throws(() => json(Buffer.from(text)), /more than 8388608 bytes/);
});

test("lengths beyond the message, and arrays of four thousand million, are refused without taking their memory", () => {
  const beyond = Buffer.from("ffffffff00000000", "hex");
  const header = Buffer.from("00010000", "hex");
  for (const type of [
    "uint8[]",
    "float64[]",
    "string",
    "string[]",
    "bool[]",
    "time[]",
    "int64[4000000000]",
    "bool[4000000000]",
  ]) {
    assert.throws(() => ros1(`${type} x\n`)(beyond), DecodeError, type);
    const ros2Type = type.replace("time[]", "builtin_interfaces/Time[]");
    const times = `${line}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n`;
    assert.throws(() => ros2(`${ros2Type} x\n${times}`)(Buffer.concat([header, beyond])), DecodeError, type);
  }
});

test("parts of no bytes that ask for a million values are refused, and a type with many fields is read", () => {
  const field = Array.from({ length: 10_000 }, (_, index) => ({
    name: `f${index}`,
    number: index + 1,
    type: Type.INT32,
    label: Label.OPTIONAL,
  }));
  const self = { name: "self", number: 100_000, type: Type.MESSAGE, typeName: ".a.A", label: Label.REPEATED };
  const set = create(FileDescriptorSetSchema, {
    file: [{ name: "a.proto", package: "a", syntax: "proto3", messageType: [{ name: "A", field: [...field, self] }] }],
  });
  const schema = toBinary(FileDescriptorSetSchema, set);
  const decode = makeDecode({ messageEncoding: "protobuf", schemaEncoding: "protobuf", schemaName: "a.A", schema });
  assert.equal(Object.keys(decode(new Uint8Array()) as object).length, 10_001);
  // Field 100000, of no bytes: each asks for 10,000 values.
  const part = Buffer.from("82ea3000", "hex");
  assert.throws(() => decode(Buffer.concat(new Array(100).fill(part))), /too many values/);
});

test("protobuf parts a million deep in each other, and longer than what contains them, are refused", () => {
  const self = { name: "self", number: 1, type: Type.MESSAGE, typeName: ".a.A", label: Label.OPTIONAL };
  const set = create(FileDescriptorSetSchema, {
    file: [{ name: "a.proto", package: "a", syntax: "proto3", messageType: [{ name: "A", field: [self] }] }],
  });
  const schema = toBinary(FileDescriptorSetSchema, set);
  const decode = makeDecode({ messageEncoding: "protobuf", schemaEncoding: "protobuf", schemaName: "a.A", schema });
  let nested: Uint8Array = Buffer.alloc(0);
  for (let depth = 0; depth < 40; depth += 1) nested = Buffer.concat([Buffer.of(0x0a, nested.byteLength), nested]);
  assert.throws(() => decode(nested), /more than 32 deep/);
  assert.throws(() => decode(Buffer.from("0a050a7f", "hex")), /longer than what contains it/);
  assert.throws(() => decode(Buffer.from("0a020a05ffffffffff", "hex")), /longer than what contains it/);
});

test("any bytes, and any change of a sound message or schema, end in a value or a sentence", () => {
  const topics = sampleTopics(2);
  fc.assert(
    fc.property(fc.constantFrom(...topics), fc.uint8Array({ maxLength: 300 }), fc.nat(), (topic, noise, at) => {
      const sound = topic.messages[1]!.data;
      const changed = Uint8Array.from(sound);
      changed.set(noise.subarray(0, 8 % (sound.length + 1)), at % Math.max(1, sound.length - 8));
      const schema = Uint8Array.from(topic.schema);
      if (schema.length > 0) schema[at % schema.length] = noise[0] ?? 0;
      for (const data of [noise, changed, sound.subarray(0, at % sound.length)]) endsWell({ ...topic }, data);
      endsWell({ ...topic, schema }, sound);
    }),
    { numRuns: propertyRuns(2000) },
  );
});

function endsWell(encoded: Parameters<typeof makeDecode>[0], data: Uint8Array): void {
  try {
    makeDecode(encoded)(data);
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error instanceof Error ? error.stack : error));
  }
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { create, createFileRegistry, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { decodeProtobuf } from "./protobuf.ts";

const scalars = {
  double: Type.DOUBLE,
  float: Type.FLOAT,
  int64: Type.INT64,
  uint64: Type.UINT64,
  int32: Type.INT32,
  fixed64: Type.FIXED64,
  fixed32: Type.FIXED32,
  bool: Type.BOOL,
  string: Type.STRING,
  bytes: Type.BYTES,
  uint32: Type.UINT32,
  sfixed32: Type.SFIXED32,
  sfixed64: Type.SFIXED64,
  sint32: Type.SINT32,
  sint64: Type.SINT64,
};
const names = Object.keys(scalars) as (keyof typeof scalars)[];
const fields = (label: Label, from: number, suffix: string) =>
  names.map((name, index) => ({ name: `${name}${suffix}`, number: from + index, type: scalars[name], label }));

const set = create(FileDescriptorSetSchema, {
  file: [
    {
      name: "all.proto",
      package: "a",
      syntax: "proto3",
      enumType: [
        {
          name: "Mode",
          value: [
            { name: "OFF", number: 0 },
            { name: "ON", number: 2 },
          ],
        },
      ],
      messageType: [
        {
          name: "All",
          field: [
            ...fields(Label.OPTIONAL, 1, "One"),
            ...fields(Label.REPEATED, 21, "Many"),
            { name: "mode", number: 41, type: Type.ENUM, typeName: ".a.Mode", label: Label.OPTIONAL },
            { name: "inner", number: 42, type: Type.MESSAGE, typeName: ".a.All", label: Label.OPTIONAL },
            { name: "counts", number: 43, type: Type.MESSAGE, typeName: ".a.All.CountsEntry", label: Label.REPEATED },
          ],
          nestedType: [
            {
              name: "CountsEntry",
              options: { mapEntry: true },
              field: [
                { name: "key", number: 1, type: Type.STRING, label: Label.OPTIONAL },
                { name: "value", number: 2, type: Type.INT32, label: Label.OPTIONAL },
              ],
            },
          ],
        },
      ],
    },
  ],
});
const schema = toBinary(FileDescriptorSetSchema, set);
const type = createFileRegistry(set).getMessage("a.All")!;

const one = {
  doubleOne: -1.5,
  floatOne: 2.5,
  int64One: -(2n ** 63n),
  uint64One: 2n ** 64n - 1n,
  int32One: -7,
  fixed64One: 8n,
  fixed32One: 9,
  boolOne: true,
  stringOne: "é",
  bytesOne: Uint8Array.of(1, 2),
  uint32One: 2 ** 32 - 1,
  sfixed32One: -3,
  sfixed64One: -4n,
  sint32One: -5,
  sint64One: -6n,
};
const many = Object.fromEntries(
  Object.entries(one).map(([name, value]) => [name.replace("One", "Many"), [value, value]]),
);

test("every type that the library writes is read back, alone, repeated, in a map and in a part", () => {
  const message = create(type, {
    ...one,
    ...many,
    mode: 2,
    inner: { ...one, ...many },
    counts: { "a/b": 1, __proto__x: 2 },
  } as Record<string, unknown>);
  const counts = [
    { key: "a/b", value: 1 },
    { key: "__proto__x", value: 2 },
  ];
  const inner = { ...one, ...many, mode: 0, inner: null, counts: [] };
  const decoded = decodeProtobuf(schema, "a.All")(toBinary(type, message));
  assert.deepEqual(decoded, { ...one, ...many, mode: 2, inner, counts });
});

test("what is not written has its default, so that a line of zeros is one", () => {
  const decoded = decodeProtobuf(schema, "a.All")(new Uint8Array()) as Record<string, unknown>;
  assert.deepEqual([decoded.doubleOne, decoded.boolOne, decoded.stringOne, decoded.mode], [0, false, "", 0]);
  assert.deepEqual([decoded.doubleMany, decoded.counts, decoded.inner], [[], [], null]);
});

test("a schema that is none, or without the type, is refused with a sentence", () => {
  assert.throws(() => decodeProtobuf(schema, "a.Missing"), /does not define a\.Missing/);
  assert.throws(
    () => decodeProtobuf(Buffer.from("garbage"), "a.All"),
    /cannot be read as a set of protobuf descriptors/,
  );
  assert.throws(() => decodeProtobuf(new Uint8Array(5_000_000), "a.All"), /more than the/);
});

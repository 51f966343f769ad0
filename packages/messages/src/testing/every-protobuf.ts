import { create, createFileRegistry, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

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
/** Descriptors of `a.All`, which has each kind of field. */
export const PROTOBUF_SCHEMA = toBinary(FileDescriptorSetSchema, set);
export const everyType = createFileRegistry(set).getMessage("a.All")!;

const int32 = fc.integer();
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const one = {
  ...{ double: fc.double(), float: fc.float(), int64, uint64, int32, fixed64: uint64, fixed32: uint32 },
  ...{ bool: fc.boolean(), string: fc.string(), bytes: fc.uint8Array(), uint32, sfixed32: int32 },
  ...{ sfixed64: int64, sint32: int32, sint64: int64 },
} satisfies Record<(typeof names)[number], fc.Arbitrary<unknown>>;
const ones = Object.entries<fc.Arbitrary<unknown>>(one);
const flat = fc.record({
  ...Object.fromEntries(ones.map(([name, value]) => [`${name}One`, value])),
  ...Object.fromEntries(ones.map(([name, value]) => [`${name}Many`, fc.array(value, { maxLength: 3 })])),
});

/** Encoded messages of it. */
export const protobufMessages = fc
  .record({
    values: flat,
    inner: fc.option(flat),
    counts: fc.dictionary(fc.string(), int32, { maxKeys: 3 }),
  })
  .map(({ values, inner, counts }) => {
    const message = { ...values, mode: 2, counts, ...(inner && { inner }) };
    return toBinary(everyType, create(everyType, message as Record<string, unknown>));
  });

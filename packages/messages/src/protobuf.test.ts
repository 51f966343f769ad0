import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { decodeProtobuf } from "./protobuf.ts";
import { everyType, PROTOBUF_SCHEMA } from "./testing/every-protobuf.ts";

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
  const message = create(everyType, {
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
  const decoded = decodeProtobuf(PROTOBUF_SCHEMA, "a.All")(toBinary(everyType, message));
  assert.deepEqual(decoded, { ...one, ...many, mode: 2, inner, counts });
});

test("what is not written has its default, so that a line of zeros is one", () => {
  const decoded = decodeProtobuf(PROTOBUF_SCHEMA, "a.All")(new Uint8Array()) as Record<string, unknown>;
  assert.deepEqual([decoded.doubleOne, decoded.boolOne, decoded.stringOne, decoded.mode], [0, false, "", 0]);
  assert.deepEqual([decoded.doubleMany, decoded.counts, decoded.inner], [[], [], null]);
});

test("a schema that is none, or without the type, is refused with a sentence", () => {
  assert.throws(() => decodeProtobuf(PROTOBUF_SCHEMA, "a.Missing"), /does not define a\.Missing/);
  assert.throws(
    () => decodeProtobuf(Buffer.from("garbage"), "a.All"),
    /cannot be read as a set of protobuf descriptors/,
  );
  assert.throws(() => decodeProtobuf(new Uint8Array(5_000_000), "a.All"), /more than the/);
});

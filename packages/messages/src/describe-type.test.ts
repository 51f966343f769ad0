import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describeType, type StructType, type ValueType } from "./describe-type.ts";
import { PROTOBUF_SCHEMA } from "./testing/every-protobuf.ts";
import { ROS2_SCHEMA } from "./testing/every-ros2.ts";
import type { DecodeError } from "./value.ts";

/** Writes a type in a line. */
function show(type: ValueType | undefined): string {
  if (type === undefined || typeof type === "string") return String(type);
  if ("list" in type) return `[${show(type.list)}]`;
  return `{${[...type.fields].map(([name, inner]) => `${name} ${show(inner)}`).join(", ")}}`;
}

const ros1 = (text: string) => ({ messageEncoding: "ros1", schemaEncoding: "ros1msg", schema: Buffer.from(text) });
const ros2 = (text: string) => ({ messageEncoding: "cdr", schemaEncoding: "ros2msg", schema: Buffer.from(text) });
const describe = (encoded: ReturnType<typeof ros1>, schemaName = "a/A") => describeType({ ...encoded, schemaName });

test("a type of ROS 2 has the fields of its definition, with their widths and signs", () => {
  const inner = "{small uint8, large float64, list [int16]}";
  const time = "{sec int32, nanosec uint32}";
  const numbers = "a bool, b int64, c [uint16], d [float64]";
  assert.equal(
    show(describe(ros2(ROS2_SCHEMA))),
    `{${numbers}, e ${inner}, f [${inner}], g text, h [text], i ${time}, j {}, k [bool], l [float32]}`,
  );
});

test("times of ROS 1 are of unsigned parts and durations of signed ones; arrays of bytes are bytes", () => {
  assert.equal(
    show(describe(ros1("time a\nduration b\nuint8[] c\nchar[4] d\nint8[] e\nchar f\n"))),
    "{a {sec uint32, nsec uint32}, b {sec int32, nsec int32}, c bytes, d bytes, e [int8], f uint8}",
  );
});

test("a type of protobuf has its fields; one within itself may be anything", () => {
  const type = describe(
    { messageEncoding: "protobuf", schemaEncoding: "protobuf", schema: Buffer.from(PROTOBUF_SCHEMA) },
    "a.All",
  );
  const { fields } = type as StructType;
  const shown = (names: string[]) => names.map((name) => show(fields.get(name)));
  assert.deepEqual(shown(["uint64One", "sint32One", "bytesMany", "mode"]), ["uint64", "int32", "[bytes]", "int32"]);
  assert.deepEqual(shown(["inner", "counts"]), ["any", "[{key text, value int32}]"]);
});

test("JSON has no type of its own", () => {
  assert.equal(
    describe({ messageEncoding: "json", schemaEncoding: "jsonschema", schema: Buffer.from("{}") }),
    undefined,
  );
});

test("a short schema with billions of fields is refused", () => {
  const level = (n: number) => `${"=".repeat(80)}\nMSG: a/L${n}\n${`a/L${n + 1} x\na/L${n + 1} y\n`}`;
  const text = `a/L0 x\n${Array.from({ length: 28 }, (_, n) => level(n)).join("")}${"=".repeat(80)}\nMSG: a/L28\nint8 x\n`;
  const isMany = (error: DecodeError) => error.name === "DecodeError" && /more than 5000 fields/.test(error.message);
  assert.throws(() => describe(ros2(text)), isMany);
  const field = (name: string, number: number, typeName: string) => ({ name, number, type: 11, label: 1, typeName });
  const messageType = Array.from({ length: 28 }, (_, n) => ({
    name: `L${n}`,
    field: n === 27 ? [] : [field("x", 1, `.a.L${n + 1}`), field("y", 2, `.a.L${n + 1}`)],
  }));
  const set = create(FileDescriptorSetSchema, { file: [{ name: "a.proto", package: "a", messageType }] });
  const schema = Buffer.from(toBinary(FileDescriptorSetSchema, set));
  assert.throws(() => describe({ messageEncoding: "protobuf", schemaEncoding: "protobuf", schema }, "a.L0"), isMany);
});

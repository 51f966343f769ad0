import type { ScalarName, StructType, ValueType } from "@downlink/messages/describe-type";
import { isNumberArray, isStruct, type Value } from "@downlink/messages/value";
import type { SchemaElement } from "hyparquet";
import { listOf } from "../parquet/parquet-file.ts";

type Leaf = Pick<SchemaElement, "type" | "converted_type" | "logical_type">;

/** Numbers keep their width and sign. `any` and texts in JSON have Parquet's logical type for it. */
const leaves: Readonly<Record<ScalarName, Leaf>> = {
  int8: { type: "INT32", converted_type: "INT_8" },
  int16: { type: "INT32", converted_type: "INT_16" },
  int32: { type: "INT32" },
  int64: { type: "INT64" },
  uint8: { type: "INT32", converted_type: "UINT_8" },
  uint16: { type: "INT32", converted_type: "UINT_16" },
  uint32: { type: "INT32", converted_type: "UINT_32" },
  uint64: { type: "INT64", converted_type: "UINT_64" },
  float32: { type: "FLOAT" },
  float64: { type: "DOUBLE" },
  bool: { type: "BOOLEAN" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  bytes: { type: "BYTE_ARRAY" },
  any: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
};

/** Returns the elements of a column. Each of its values may be null. */
export function elementsOf(name: string, type: ValueType): SchemaElement[] {
  if (typeof type === "string") return [{ name, repetition_type: "OPTIONAL", ...leaves[type] }];
  if ("list" in type) return listOf(name, elementsOf("element", type.list));
  const children = [...type.fields].map(([field, inner]) => elementsOf(field, inner));
  return [{ name, repetition_type: "OPTIONAL", num_children: children.length }, ...children.flat()];
}

/** Leaves out what has no values, as a struct without fields, for which Parquet has no column. */
export function dropEmpty({ fields }: StructType): StructType {
  const kept = [...fields].flatMap(([name, type]): [string, ValueType][] => {
    const inner = dropEmptyIn(type);
    return inner === undefined ? [] : [[name, inner]];
  });
  return { fields: new Map(kept) };
}

function dropEmptyIn(type: ValueType): ValueType | undefined {
  if (typeof type === "string") return type;
  if ("list" in type) {
    const list = dropEmptyIn(type.list);
    return list === undefined ? undefined : { list };
  }
  const struct = dropEmpty(type);
  return struct.fields.size > 0 ? struct : undefined;
}

/** A value as the writer of Parquet takes it. */
export type Cell = null | boolean | number | bigint | string | Uint8Array | Cell[] | StructCell;
export interface StructCell {
  [name: string]: Cell;
}

/** Copies a value out of its message; null where it is missing or not of the type. */
export function toCell(type: ValueType, value: Value | undefined): Cell {
  if (value === undefined || value === null) return null;
  if (typeof type === "string") return toLeaf(type, value);
  if ("fields" in type) return isStruct(value) ? toStruct(type, value) : null;
  if (!Array.isArray(value) && !isNumberArray(value)) return null;
  const cells = Array.from(value as Iterable<Value>, (one) => toCell(type.list, one));
  return cells.includes(null) ? null : cells;
}

export function toStruct({ fields }: StructType, value: Value | undefined): StructCell | null {
  if (!isStruct(value)) return null;
  const cells: StructCell = {};
  for (const [name, type] of fields) cells[name] = Object.hasOwn(value, name) ? toCell(type, value[name]) : null;
  return cells;
}

function toLeaf(type: ScalarName, value: Value): Cell {
  switch (type) {
    case "text":
      return typeof value === "string" ? value : null;
    case "bool":
      return typeof value === "boolean" ? value : null;
    case "bytes":
      return value instanceof Uint8Array ? new Uint8Array(value) : null;
    case "any":
      return JSON.stringify(toPlain(value));
    case "int64":
    case "uint64":
      return typeof value === "bigint" || typeof value === "number" ? BigInt(value) : null;
    default:
      return typeof value === "number" ? value : null;
  }
}

/** Long numbers are texts of digits, bytes base 64, and a number that is not finite is its name: as protobuf writes JSON. */
function toPlain(value: Value): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value) || isNumberArray(value)) return Array.from(value as Iterable<Value>, toPlain);
  if (!isStruct(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toPlain(inner)]));
}

/** Returns about how many bytes of memory a value takes. */
export function weigh(cell: Cell): number {
  if (cell === null || typeof cell !== "object") return typeof cell === "string" ? SLOT + 2 * cell.length : SLOT;
  if (cell instanceof Uint8Array) return SLOT + cell.byteLength;
  const inner = Array.isArray(cell) ? cell : Object.values(cell);
  return inner.reduce<number>((sum, one) => sum + weigh(one), SLOT);
}

/** A number in a list takes 8 bytes, and its column three to four times as much while it is written. */
const SLOT = 32;

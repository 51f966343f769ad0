import type { Feature } from "@downlink/protocol";
import { NoValueError } from "./no-value-error.ts";
import type { Cell } from "./read-part.ts";

type Dtype = Feature["dtype"];

/** Values of one dtype: floats and truths as doubles, whole numbers exactly. */
export type Cells = Float64Array | BigInt64Array | string[];

/** Throws {@link NoValueError} if some value is none of the dtype. */
export function checkCells(cells: readonly Cell[], dtype: Dtype): void {
  for (const cell of cells) toCell(cell, dtype);
}

export function newCells(dtype: Dtype, length: number): Cells {
  if (dtype === "string") return new Array<string>(length).fill("");
  return dtype === "int64" ? new BigInt64Array(length) : new Float64Array(length);
}

/** Writes values at a place and those that follow. */
export function setCells(into: Cells, at: number, { cells, dtype }: { cells: readonly Cell[]; dtype: Dtype }): void {
  for (const [place, cell] of cells.entries()) into[at + place] = toCell(cell, dtype);
}

function toCell(cell: Cell, dtype: Dtype): number & bigint & string {
  const read = readers[dtype];
  return read(cell) as number & bigint & string;
}

const readers: Readonly<Record<Dtype, (cell: Cell) => Cell>> = {
  float32: toNumber,
  float64: toNumber,
  bool: toTruth,
  int64: toWhole,
  string: (cell) => (typeof cell === "string" ? cell : refuse(cell)),
  image: refuse,
};

function toNumber(cell: Cell): number {
  return typeof cell === "string" ? refuse(cell) : Number(cell);
}

/** Many messages have truths as 0 and 1. */
function toTruth(cell: Cell): number {
  const number = Number(cell);
  return typeof cell !== "string" && (number === 0 || number === 1) ? number : refuse(cell);
}

function toWhole(cell: Cell): bigint {
  if (typeof cell === "string" || (typeof cell === "number" && !Number.isSafeInteger(cell))) return refuse(cell);
  const whole = BigInt(cell);
  return whole === BigInt.asIntN(64, whole) ? whole : refuse(cell);
}

function refuse(cell: Cell): never {
  const shown = typeof cell === "string" ? "a text" : String(cell);
  throw new NoValueError(`has ${shown}, which is no value of the dtype`);
}

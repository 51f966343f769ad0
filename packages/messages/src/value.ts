/** A decoded message or a part of one. Arrays of numbers may be views of the message's bytes. */
export type Value = null | boolean | number | bigint | string | NumberArray | Value[] | Struct;
export interface Struct {
  [name: string]: Value;
}
export type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** Reads one message; a DecodeError says what is wrong with it. */
export type Decode = (data: Uint8Array) => Value;

/** Why a message or a schema cannot be shown, as a sentence for people. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/**
 * How many values one message may have, where numbers in an array that is a view of the bytes do not count. A short schema can ask for
 * any number of them, out of no bytes at all.
 */
export const MAX_VALUES = 500_000;

export interface Limits {
  /** The most values of a message. By default {@link MAX_VALUES}. */
  readonly maxValues?: number;
}

/** How deep the parts of a message may lie in each other. */
export const MAX_DEPTH = 32;

export function isNumberArray(value: Value | undefined): value is NumberArray {
  return ArrayBuffer.isView(value);
}

export function isStruct(value: Value | undefined): value is Struct {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** Returns the part with this name that the message itself has, whatever names its author chose. */
export function partOf(value: Value | undefined, name: string): Value | undefined {
  if (isStruct(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
  if (!Array.isArray(value) && !isNumberArray(value)) return undefined;
  return /^\d+$/.test(name) ? value[Number(name)] : undefined;
}

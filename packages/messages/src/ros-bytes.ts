import { DecodeError, type NumberArray } from "./value.ts";

/** The bytes of one message of ROS, with the place that has been read. The two generations differ in how numbers are aligned. */
export interface RosBytes {
  readonly view: DataView;
  readonly isLittleEndian: boolean;
  /** From where alignment counts. */
  readonly originBytes: number;
  /** 1: nothing is aligned. */
  readonly maxAlignmentBytes: number;
  readonly isNulTerminated: boolean;
  /** How the parts of a time below the second are called. */
  readonly nanoseconds: "nsec" | "nanosec";
  /** ROS 2 writes a byte for a struct without fields. */
  readonly emptyBytes: 0 | 1;
  at: number;
  valuesLeft: number;
}

interface NumberType {
  readonly sizeBytes: number;
  read(view: DataView, at: number, isLittleEndian: boolean): number | bigint;
  make(from: ArrayBufferLike, at: number, length: number): NumberArray;
}

const byte: NumberType = {
  sizeBytes: 1,
  read: (view, at) => view.getUint8(at),
  make: (from, at, length) => new Uint8Array(from, at, length),
};

export const numberTypes: ReadonlyMap<string, NumberType> = new Map<string, NumberType>([
  ["uint8", byte],
  ["byte", byte],
  ["char", byte],
  ["int8", { sizeBytes: 1, read: (v, at) => v.getInt8(at), make: (b, at, n) => new Int8Array(b, at, n) }],
  ["int16", { sizeBytes: 2, read: (v, at, le) => v.getInt16(at, le), make: (b, at, n) => new Int16Array(b, at, n) }],
  ["uint16", { sizeBytes: 2, read: (v, at, le) => v.getUint16(at, le), make: (b, at, n) => new Uint16Array(b, at, n) }],
  ["int32", { sizeBytes: 4, read: (v, at, le) => v.getInt32(at, le), make: (b, at, n) => new Int32Array(b, at, n) }],
  ["uint32", { sizeBytes: 4, read: (v, at, le) => v.getUint32(at, le), make: (b, at, n) => new Uint32Array(b, at, n) }],
  [
    "int64",
    { sizeBytes: 8, read: (v, at, le) => v.getBigInt64(at, le), make: (b, at, n) => new BigInt64Array(b, at, n) },
  ],
  [
    "uint64",
    { sizeBytes: 8, read: (v, at, le) => v.getBigUint64(at, le), make: (b, at, n) => new BigUint64Array(b, at, n) },
  ],
  [
    "float32",
    { sizeBytes: 4, read: (v, at, le) => v.getFloat32(at, le), make: (b, at, n) => new Float32Array(b, at, n) },
  ],
  [
    "float64",
    { sizeBytes: 8, read: (v, at, le) => v.getFloat64(at, le), make: (b, at, n) => new Float64Array(b, at, n) },
  ],
]);

export function readNumber(bytes: RosBytes, { sizeBytes, read }: NumberType): number | bigint {
  const at = take(bytes, sizeBytes, sizeBytes);
  return read(bytes.view, at, bytes.isLittleEndian);
}

/** Returns a view of the message where the processor can read it there, a copy else. */
export function readNumbers(bytes: RosBytes, type: NumberType, length: number): NumberArray {
  if (length === 0) return type.make(new ArrayBuffer(0), 0, 0);
  const at = take(bytes, length * type.sizeBytes, type.sizeBytes);
  const start = bytes.view.byteOffset + at;
  const isReadable = bytes.isLittleEndian || type.sizeBytes === 1;
  if (isReadable && start % type.sizeBytes === 0) return type.make(bytes.view.buffer, start, length);
  const copy = new Uint8Array(bytes.view.buffer, start, length * type.sizeBytes).slice();
  if (!isReadable) swapBytes(copy, type.sizeBytes);
  return type.make(copy.buffer, 0, length);
}

export function readText(bytes: RosBytes): string {
  const length = readLength(bytes);
  const at = take(bytes, length, 1);
  const end = bytes.isNulTerminated ? Math.max(0, length - 1) : length;
  return decoder.decode(new Uint8Array(bytes.view.buffer, bytes.view.byteOffset + at, end));
}

export function readLength(bytes: RosBytes): number {
  return bytes.view.getUint32(take(bytes, 4, 4), bytes.isLittleEndian);
}

/** Refuses a message before it takes more memory than its bytes suggest. */
export function spendValue(bytes: RosBytes): void {
  bytes.valuesLeft -= 1;
  if (bytes.valuesLeft < 0) throw new DecodeError("The message has too many values to be decoded.");
}

/** Moves on by so many bytes and returns where they begin. */
export function take(bytes: RosBytes, sizeBytes: number, alignmentBytes: number): number {
  const alignment = Math.min(alignmentBytes, bytes.maxAlignmentBytes);
  const beyond = (bytes.at - bytes.originBytes) % alignment;
  const at = beyond === 0 ? bytes.at : bytes.at + alignment - beyond;
  if (at + sizeBytes > bytes.view.byteLength) {
    throw new DecodeError("The message ends before its last field: it does not match its schema.");
  }
  bytes.at = at + sizeBytes;
  return at;
}

const decoder = new TextDecoder();

function swapBytes(bytes: Uint8Array, sizeBytes: number): void {
  for (let at = 0; at < bytes.byteLength; at += sizeBytes) bytes.subarray(at, at + sizeBytes).reverse();
}

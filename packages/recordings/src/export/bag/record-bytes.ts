/** spec: ROS bag format 2.0: a record is a header of named fields, then data, each behind its length. */
export type Fields = Record<string, Uint8Array>;

export function encodeRecord(fields: Fields, data: Uint8Array): Buffer {
  return Buffer.concat([encodeHead(fields, data.byteLength), data]);
}

/** A record up to its data. */
export function encodeHead(fields: Fields, dataBytes: number): Buffer {
  const header = encodeFields(fields);
  return Buffer.concat([u32(header.byteLength), header, u32(dataBytes)]);
}

export function encodeFields(fields: Fields): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    u32(name.length + 1 + value.byteLength),
    Buffer.from(`${name}=`),
    value,
  ]);
  return Buffer.concat(parts);
}

export function u8(value: number): Buffer {
  return Buffer.of(value);
}

export function u32(value: number): Buffer {
  return u32Row([value]);
}

/** Values one after another. */
export function u32Row(values: readonly number[] | Uint32Array): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}

export function u64(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

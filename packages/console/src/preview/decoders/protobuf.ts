import { findType } from "./protobuf-types.ts";
import { readProtobuf } from "./read-protobuf.ts";
import { type Decode, DecodeError } from "./value.ts";

/** Descriptors take many times their bytes when they are read. */
const MAX_DESCRIPTOR_BYTES = 4 * 1024 * 1024;

/** Reads by the descriptors that the recording has: a FileDescriptorSet, as MCAP prescribes for `protobuf`. */
export function decodeProtobuf(schema: Uint8Array, typeName: string): Decode {
  if (schema.byteLength > MAX_DESCRIPTOR_BYTES) {
    throw new DecodeError(
      `The schema has ${schema.byteLength} bytes, more than the ${MAX_DESCRIPTOR_BYTES} that are read.`,
    );
  }
  const type = findType(schema, typeName);
  return (data) => readProtobuf(type, data);
}

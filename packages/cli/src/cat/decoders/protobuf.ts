import { createFileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { Decode } from "./decoding.ts";

/**
 * Reads by the descriptors that the recording has: a FileDescriptorSet, as MCAP prescribes. The JSON is that of protobuf itself, with the
 * names of the fields as they were declared and with the values that are zero.
 */
export function decodeProtobuf(schema: Uint8Array, typeName: string): Decode {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, schema));
  const type = registry.getMessage(typeName);
  if (!type) throw new Error(`the schema does not define ${typeName}`);
  const options = { registry, useProtoFieldName: true, alwaysEmitImplicit: true };
  return (data) => JSON.stringify(toJson(type, fromBinary(type, data), options));
}

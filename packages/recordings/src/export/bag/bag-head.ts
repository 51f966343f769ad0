import { magic, opcodes } from "../../bag1/records.ts";
import { encodeFields, u8, u32, u64 } from "./record-bytes.ts";

/** Where the first chunk begins. */
export const bagHeadBytes = 4117;

/** Spaces between `beginBagHead` and `endBagHead`. */
export const paddingBytes = 4007;

/**
 * The bag's head up to its padding. Other writers put the padding behind the numbers; here it stands as a field before
 * them, so that a head can be begun before they are known, and its reader sees that it goes on.
 */
export function beginBagHead(): Buffer {
  const padding = Buffer.concat([u32(paddingName.byteLength + paddingBytes), paddingName]);
  return Buffer.concat([magic, u32(headerBytes), encodeFields({ op: u8(opcodes.bagHeader) }), padding]);
}

const paddingName = Buffer.from("padding=");

/** spec: ROS bag format 2.0: header and data together are 4096 bytes. Some readers take a header of at most 4088. */
const headerBytes = 4088;
const dataBytes = 8;

export interface BagNumbers {
  indexPosition: number;
  connectionCount: number;
  chunkCount: number;
}

export function endBagHead({ indexPosition, connectionCount, chunkCount }: BagNumbers): Buffer {
  const fields = { index_pos: u64(indexPosition), conn_count: u32(connectionCount), chunk_count: u32(chunkCount) };
  return Buffer.concat([encodeFields(fields), u32(dataBytes), Buffer.alloc(dataBytes, " ")]);
}

import type { MessageHead } from "../reading/record-layout.ts";
import { EMPTY_MESSAGE_BYTES, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

export function sizeOfMcapRecord(bytes: Buffer, at: number): number {
  if (at + RECORD_HEAD_BYTES > bytes.byteLength) return RECORD_HEAD_BYTES;
  return RECORD_HEAD_BYTES + bytes.readUInt32LE(at + 1) + bytes.readUInt32LE(at + 5) * 2 ** 32;
}

/** spec: MCAP "Message" */
export function readMcapHead(bytes: Buffer): MessageHead | undefined {
  if (bytes.byteLength < EMPTY_MESSAGE_BYTES || bytes[0] !== opcodes.message) return undefined;
  const message = {
    channelId: bytes.readUInt16LE(RECORD_HEAD_BYTES),
    sequence: bytes.readUInt32LE(RECORD_HEAD_BYTES + 2),
    logTimeNs: bytes.readBigUInt64LE(RECORD_HEAD_BYTES + 6),
    publishTimeNs: bytes.readBigUInt64LE(RECORD_HEAD_BYTES + 14),
  };
  return { message, dataAt: EMPTY_MESSAGE_BYTES };
}

import type { RawMessage } from "../reading/raw-message.ts";
import type { MessageHead } from "../reading/record-layout.ts";
import { readMessageHeader, visitRecords } from "./chunk-records.ts";
import { opcodeOf, opcodes, parseHeader } from "./records.ts";

export function sizeOfBagRecord(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.byteLength) return 4;
  const dataAt = 4 + bytes.readUInt32LE(at) + 4;
  if (at + dataAt > bytes.byteLength) return dataAt;
  return dataAt + bytes.readUInt32LE(at + dataAt - 4);
}

export function readBagHead(bytes: Buffer, place: string): MessageHead | undefined {
  const headerEnd = bytes.byteLength < 4 ? 4 : 4 + bytes.readUInt32LE(0);
  const dataAt = headerEnd + 4;
  if (bytes.byteLength < dataAt) return undefined;
  const header = parseHeader(bytes.subarray(4, headerEnd), place, "BadChunk");
  return opcodeOf(header) === opcodes.message ? { message: readMessageHeader(header), dataAt } : undefined;
}

export function visitBagMessages(bytes: Uint8Array, place: string, visit: (message: RawMessage) => void): void {
  visitRecords(bytes, place, { message: visit });
}

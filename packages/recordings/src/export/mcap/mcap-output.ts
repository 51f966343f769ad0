import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { recordHeadBytes } from "../../mcap/opcodes.ts";

/** Position and checksums of a file that is being written. Everything returns the bytes to pass on. */
export interface McapOutput {
  position(): number;
  /** `checksum`: CRC-32 of the bytes, where somebody has computed it already. */
  append(bytes: Uint8Array, checksum?: number): Uint8Array;
  endData(): Uint8Array;
  addSummaryGroup(opcode: number, bytes: Uint8Array): Uint8Array;
  endFile(): Uint8Array;
}

export function createMcapOutput(): McapOutput {
  let position = 0;
  let crc = 0;
  let summaryStart = 0;
  const offsets = new McapRecordBuilder();

  const append = (bytes: Uint8Array, checksum?: number): Uint8Array => {
    position += bytes.byteLength;
    crc = checksum === undefined ? crc32(bytes, crc) : combineChecksums(crc, checksum, bytes.byteLength);
    return bytes;
  };
  const endData = (): Uint8Array => {
    const bytes = append(encode((builder) => builder.writeDataEnd({ dataSectionCrc: crc })));
    summaryStart = position;
    crc = 0;
    return bytes;
  };
  const addSummaryGroup = (groupOpcode: number, bytes: Uint8Array): Uint8Array => {
    const groupStart = BigInt(position);
    offsets.writeSummaryOffset({ groupOpcode, groupStart, groupLength: BigInt(bytes.byteLength) });
    return append(bytes);
  };
  const endFile = (): Uint8Array => {
    const places = { summaryStart: BigInt(summaryStart), summaryOffsetStart: BigInt(position) };
    const footer = encode((builder) => builder.writeFooter({ ...places, summaryCrc: 0 }));
    const end = Buffer.concat([offsets.buffer, footer]);
    // spec: MCAP "Footer": the checksum covers everything from the summary's start up to itself.
    end.writeUInt32LE(crc32(end.subarray(0, -4), crc), end.byteLength - 4);
    return append(Buffer.concat([end, encode((builder) => builder.writeMagic())]));
  };
  return { position: () => position, append, endData, addSummaryGroup, endFile };
}

/**
 * Turns a record that was encoded with an empty payload at its end into the beginning of one with a payload, which then
 * need not be in memory: sets the payload's length, the last field, and the record's. `trailerBytes` follow the payload.
 */
export function announcePayload(emptyRecord: Uint8Array, payloadBytes: number, trailerBytes = 0): Uint8Array {
  const head = Buffer.from(emptyRecord).subarray(0, emptyRecord.byteLength - trailerBytes);
  head.writeBigUInt64LE(BigInt(head.byteLength - recordHeadBytes + payloadBytes + trailerBytes), 1);
  head.writeBigUInt64LE(BigInt(payloadBytes), head.byteLength - 8);
  return head;
}

/** The bytes of a few records. */
export function encode(write: (builder: McapRecordBuilder) => void): Uint8Array {
  const builder = new McapRecordBuilder();
  write(builder);
  return builder.buffer;
}

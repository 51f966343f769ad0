import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";

/** Keeps the position and the checksums of a file that is being written. Every method answers the bytes to pass on. */
export class McapOutput {
  #position = 0;
  /** CRC-32 of the section that is being written: of the data, then of the summary. */
  #crc = 0;
  #summaryStart = 0;
  readonly #summaryOffsets = new McapRecordBuilder();

  /** How many bytes were given out. */
  get position(): number {
    return this.#position;
  }

  /** `checksum` is the CRC-32 of the bytes, if the caller has computed it already. */
  append(bytes: Uint8Array, checksum?: number): Uint8Array {
    this.#position += bytes.byteLength;
    const isSummed = checksum !== undefined;
    this.#crc = isSummed ? combineChecksums(this.#crc, checksum, bytes.byteLength) : crc32(bytes, this.#crc);
    return bytes;
  }

  endData(): Uint8Array {
    const bytes = this.append(encodeRecords((builder) => builder.writeDataEnd({ dataSectionCrc: this.#crc })));
    this.#summaryStart = this.#position;
    this.#crc = 0;
    return bytes;
  }

  addSummaryGroup(groupOpcode: number, bytes: Uint8Array): Uint8Array {
    const groupStart = BigInt(this.#position);
    this.#summaryOffsets.writeSummaryOffset({ groupOpcode, groupStart, groupLength: BigInt(bytes.byteLength) });
    return this.append(bytes);
  }

  endFile(): Uint8Array {
    const places = { summaryStart: BigInt(this.#summaryStart), summaryOffsetStart: BigInt(this.#position) };
    const footer = encodeRecords((builder) => builder.writeFooter({ ...places, summaryCrc: 0 }));
    const end = Buffer.concat([this.#summaryOffsets.buffer, footer]);
    // spec: MCAP "Footer": the checksum covers everything from the summary's start up to itself.
    end.writeUInt32LE(crc32(end.subarray(0, -4), this.#crc), end.byteLength - 4);
    return this.append(Buffer.concat([end, encodeRecords((builder) => builder.writeMagic())]));
  }
}

/** Encodes a few records. */
export function encodeRecords(write: (builder: McapRecordBuilder) => void): Uint8Array {
  const builder = new McapRecordBuilder();
  write(builder);
  return builder.buffer;
}

/**
 * Turns a record that was encoded with an empty payload at its end into the beginning of a record with a payload, which then need not be in
 * memory. It sets the payload's length, which is the last field, and the record's length. `trailerBytes` follow the payload.
 */
export function announcePayload(emptyRecord: Uint8Array, payloadBytes: number, trailerBytes = 0): Uint8Array {
  const head = Buffer.from(emptyRecord).subarray(0, emptyRecord.byteLength - trailerBytes);
  head.writeBigUInt64LE(BigInt(head.byteLength - RECORD_HEAD_BYTES + payloadBytes + trailerBytes), 1);
  head.writeBigUInt64LE(BigInt(payloadBytes), head.byteLength - 8);
  return head;
}

import { crc32 } from "node:zlib";

/** Writes MCAP records field by field and checks nothing, so that every lie can be written. Spec: MCAP "Records". */

/** Bytes where a name is to be no valid UTF-8. */
export type Name = string | Uint8Array;

export interface SchemaFields {
  readonly id: number;
  readonly name: Name;
  readonly encoding: Name;
  readonly data: Uint8Array;
  /** Fields that a later version of the format may have added. */
  readonly added?: Uint8Array;
}

export interface ChannelFields {
  readonly id: number;
  readonly schemaId: number;
  readonly topic: Name;
  readonly messageEncoding: Name;
  readonly metadata: readonly (readonly [Name, Name])[];
  readonly added?: Uint8Array;
}

export interface MessageFields {
  readonly channelId: number;
  readonly sequence: number;
  readonly logTimeNs: bigint;
  readonly publishTimeNs: bigint;
  readonly data: Uint8Array;
}

export interface ChunkFields {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly uncompressedBytes: number;
  readonly crc: number;
  readonly compression: string;
  readonly stored: Uint8Array;
  readonly added: Uint8Array;
}

export interface MessageIndexFields {
  readonly channelId: number;
  readonly entries: readonly { readonly timeNs: bigint; readonly offset: number }[];
  readonly added?: Uint8Array;
}

export interface ChunkIndexFields {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly offset: number;
  readonly chunkBytes: number;
  readonly indexOffsets: readonly (readonly [channelId: number, offset: number])[];
  readonly indexesBytes: number;
  readonly compression: string;
  readonly storedBytes: number;
  readonly uncompressedBytes: number;
  readonly added?: Uint8Array;
}

export interface AttachmentFields {
  readonly logTimeNs: bigint;
  readonly createTimeNs: bigint;
  readonly name: Name;
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly crc: "right" | "wrong" | "none";
  readonly added?: Uint8Array;
}

export interface MetadataFields {
  readonly name: Name;
  readonly entries: readonly (readonly [Name, Name])[];
  readonly added?: Uint8Array;
}

export interface StatisticsFields {
  readonly messageCount: number;
  readonly schemaCount: number;
  readonly channelCount: number;
  readonly attachmentCount: number;
  readonly metadataCount: number;
  readonly chunkCount: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly channelCounts: readonly (readonly [channelId: number, count: number])[];
  readonly added?: Uint8Array;
}

export interface FooterFields {
  readonly summaryStart: number;
  readonly summaryOffsetStart: number;
  readonly crc: number;
}

export const mcapMagic: Uint8Array = Uint8Array.of(0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a);

export function record(opcode: number, fields: readonly Uint8Array[], added: Uint8Array = nothing): Buffer {
  const content = Buffer.concat([...fields, added]);
  return Buffer.concat([Uint8Array.of(opcode), u64(content.byteLength), content]);
}

export function headerRecord(library: string, added?: Uint8Array): Buffer {
  return record(0x01, [text(""), text(library)], added);
}

export function footerRecord({ summaryStart, summaryOffsetStart, crc }: FooterFields): Buffer {
  return record(0x02, [u64(summaryStart), u64(summaryOffsetStart), u32(crc)]);
}

export function schemaRecord({ id, name, encoding, data, added }: SchemaFields): Buffer {
  return record(0x03, [u16(id), text(name), text(encoding), u32(data.byteLength), data], added);
}

export function channelRecord({ id, schemaId, topic, messageEncoding, metadata, added }: ChannelFields): Buffer {
  return record(0x04, [u16(id), u16(schemaId), text(topic), text(messageEncoding), textMap(metadata)], added);
}

export function messageRecord({ channelId, sequence, logTimeNs, publishTimeNs, data }: MessageFields): Buffer {
  return record(0x05, [u16(channelId), u32(sequence), u64(logTimeNs), u64(publishTimeNs), data]);
}

export function chunkRecord(chunk: ChunkFields): Buffer {
  const { startNs, endNs, uncompressedBytes, crc, compression, stored, added } = chunk;
  const head = [u64(startNs), u64(endNs), u64(uncompressedBytes), u32(crc), text(compression)];
  return record(0x06, [...head, u64(stored.byteLength), stored], added);
}

export function messageIndexRecord({ channelId, entries, added }: MessageIndexFields): Buffer {
  const pairs = entries.flatMap(({ timeNs, offset }) => [u64(timeNs), u64(offset)]);
  return record(0x07, [u16(channelId), sized(pairs)], added);
}

export function chunkIndexRecord(index: ChunkIndexFields): Buffer {
  const { startNs, endNs, offset, chunkBytes, indexOffsets, indexesBytes } = index;
  const pairs = indexOffsets.flatMap(([channelId, at]) => [u16(channelId), u64(at)]);
  const place = [u64(startNs), u64(endNs), u64(offset), u64(chunkBytes), sized(pairs), u64(indexesBytes)];
  const sizes = [text(index.compression), u64(index.storedBytes), u64(index.uncompressedBytes)];
  return record(0x08, [...place, ...sizes], index.added);
}

export function attachmentRecord(attachment: AttachmentFields): Buffer {
  const { logTimeNs, createTimeNs, name, mediaType, data, added } = attachment;
  const times = [u64(logTimeNs), u64(createTimeNs)];
  const fields = Buffer.concat([...times, text(name), text(mediaType), u64(data.byteLength), data]);
  const crcs = { right: crc32(fields), wrong: (crc32(fields) ^ 0x5a5a) >>> 0, none: 0 };
  return record(0x09, [fields, u32(crcs[attachment.crc])], added);
}

export interface IndexedPlace {
  readonly offset: number;
  readonly lengthBytes: number;
}

export function attachmentIndexRecord(attachment: AttachmentFields, { offset, lengthBytes }: IndexedPlace): Buffer {
  const { logTimeNs, createTimeNs, name, mediaType, data } = attachment;
  const numbers = [offset, lengthBytes, logTimeNs, createTimeNs, data.byteLength].map(u64);
  return record(0x0a, [...numbers, text(name), text(mediaType)]);
}

export function statisticsRecord(statistics: StatisticsFields): Buffer {
  const { messageCount, schemaCount, startNs, endNs, channelCounts, added } = statistics;
  const { channelCount, attachmentCount, metadataCount, chunkCount } = statistics;
  const counts = [channelCount, attachmentCount, metadataCount, chunkCount].map(u32);
  const pairs = channelCounts.flatMap(([channelId, count]) => [u16(channelId), u64(count)]);
  return record(0x0b, [u64(messageCount), u16(schemaCount), ...counts, u64(startNs), u64(endNs), sized(pairs)], added);
}

export function metadataRecord({ name, entries, added }: MetadataFields): Buffer {
  return record(0x0c, [text(name), textMap(entries)], added);
}

export function metadataIndexRecord({ name }: MetadataFields, { offset, lengthBytes }: IndexedPlace): Buffer {
  return record(0x0d, [u64(offset), u64(lengthBytes), text(name)]);
}

export function summaryOffsetRecord(opcode: number, { offset, lengthBytes }: IndexedPlace): Buffer {
  return record(0x0e, [Uint8Array.of(opcode), u64(offset), u64(lengthBytes)]);
}

export function dataEndRecord(crc: number): Buffer {
  return record(0x0f, [u32(crc)]);
}

const nothing = new Uint8Array(0);

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value & 0xffff);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function u64(value: bigint | number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return bytes;
}

function text(value: Name): Buffer {
  return sized([Buffer.from(value as string)]);
}

function textMap(entries: readonly (readonly [Name, Name])[]): Buffer {
  return sized(entries.flatMap(([key, value]) => [text(key), text(value)]));
}

function sized(parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.byteLength), content]);
}

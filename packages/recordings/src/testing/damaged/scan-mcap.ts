import { crc32 } from "node:zlib";
import { slowDecompress } from "../slow-decompress.ts";
import { keyOf, type ScannedMessage } from "./damaged-file.ts";

/**
 * Scans damaged bytes for the whole chunks of MCAP files, byte by byte, and shares no code with our reader. A chunk is whole by its
 * checksum, or, without one, if records that make sense fill it. The definition that a checksum proves says what a channel is, also in the
 * summary; without one, the most frequent definition. Messages whose channel no whole chunk and no proven summary introduces are left out.
 * Where one file ends and another begins is known by the magic bytes and the header behind them.
 */
export function scanMcap(damaged: Uint8Array): ScannedMessage[] {
  const bytes = Buffer.from(damaged);
  const bounds = [0, ...fileStarts(bytes), bytes.byteLength];
  return bounds.slice(1).flatMap((end, index) => scanFile(bytes.subarray(bounds[index], end)));
}

/** Those that stand in no chunk. */
function fileStarts(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let at = 1; at < bytes.byteLength; ) {
    if (bytes.subarray(at, at + fileStart.byteLength).equals(fileStart)) starts.push(at);
    at = bytes[at] === CHUNK ? (readChunk(bytes, at)?.end ?? endOfDamaged(bytes, at) ?? at + 1) : at + 1;
  }
  return starts;
}

const fileStart = Buffer.from([0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a, 1]);

function scanFile(bytes: Buffer): ScannedMessage[] {
  const chunks = [...wholeChunks(bytes)];
  const proven = [...chunks.filter(({ isProven }) => isProven), ...provenSummary(bytes)];
  const topics = new Map([...mostSaid(chunks), ...mostSaid(proven)]);
  return chunks.flatMap(({ records }) => records.flatMap((record) => toMessage(record, topics)));
}

/** The topic of each channel that most of the definitions give it; of two that are given as often the first. */
function mostSaid(chunks: readonly WholeChunk[]): Map<number, string> {
  const counts = new Map<number, Map<string, number>>();
  for (const { opcode, content } of chunks.flatMap(({ records }) => records)) {
    const channel = opcode === CHANNEL ? readChannel(content) : undefined;
    if (!channel) continue;
    const ofChannel = counts.get(channel.id) ?? new Map<string, number>();
    counts.set(channel.id, ofChannel.set(channel.topic, (ofChannel.get(channel.topic) ?? 0) + 1));
  }
  return new Map([...counts].map(([id, topics]) => [id, [...topics].reduce((a, b) => (b[1] > a[1] ? b : a))[0]]));
}

const [FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END] = [2, 3, 4, 5, 6, 15];
const HEAD_BYTES = 9;

interface Rec {
  readonly opcode: number;
  readonly content: Buffer;
}

interface WholeChunk {
  readonly records: readonly Rec[];
  readonly isProven: boolean;
}

function* wholeChunks(bytes: Buffer): Generator<WholeChunk> {
  for (let at = bytes.indexOf(CHUNK); at >= 0; ) {
    const found = readChunk(bytes, at);
    if (found) yield found;
    at = bytes.indexOf(CHUNK, found?.end ?? endOfDamaged(bytes, at) ?? at + 1);
  }
}

/** A record in a damaged chunk whose ends are true belongs to it: it may be a chunk that a message holds. */
function endOfDamaged(bytes: Buffer, at: number): number | undefined {
  const end = headOf(bytes, at)?.end;
  if (end === undefined || end - at - HEAD_BYTES !== lengthAt(bytes, at)) return undefined;
  const behind = end + HEAD_BYTES + lengthAt(bytes, end);
  const isBehindChunk = (bytes[end]! >= CHUNK && bytes[end]! <= DATA_END) || bytes[end] === FOOTER;
  const isRecord = behind <= bytes.byteLength && bytes[behind]! >= 1 && bytes[behind]! <= DATA_END;
  return isBehindChunk && (isRecord || behind + HEAD_BYTES > bytes.byteLength) ? end : undefined;
}

function lengthAt(bytes: Buffer, at: number): number {
  return at + HEAD_BYTES > bytes.byteLength ? Number.NaN : Number(bytes.readBigUInt64LE(at + 1));
}

/** Answers undefined if no head of a chunk stands there that the file is large enough for. */
function headOf(bytes: Buffer, at: number) {
  const fieldsAt = at + HEAD_BYTES;
  if (fieldsAt + 40 > bytes.byteLength) return undefined;
  const nameBytes = bytes.readUInt32LE(fieldsAt + 28);
  const dataAt = fieldsAt + 32 + nameBytes + 8;
  if (nameBytes > 4 || dataAt > bytes.byteLength) return undefined;
  const end = dataAt + Number(bytes.readBigUInt64LE(dataAt - 8));
  const compression = bytes.subarray(fieldsAt + 32, fieldsAt + 32 + nameBytes).toString("latin1");
  const isOne = ["", "none", "lz4", "zstd"].includes(compression) && end <= bytes.byteLength && end > dataAt;
  const [size, crc] = [bytes.readBigUInt64LE(fieldsAt + 16), bytes.readUInt32LE(fieldsAt + 24)];
  return isOne ? { compression, dataAt, end, size, crc } : undefined;
}

/** Answers undefined if no whole chunk stands there. */
function readChunk(bytes: Buffer, at: number): (WholeChunk & { end: number }) | undefined {
  const head = headOf(bytes, at);
  const content = head && decompress(head.compression, bytes.subarray(head.dataAt, head.end));
  if (!content || BigInt(content.byteLength) !== head.size) return undefined;
  if (head.crc !== 0 && crc32(content) !== head.crc) return undefined;
  const records = readRecords(content);
  return records?.every(isSane) ? { records, isProven: head.crc !== 0, end: head.end } : undefined;
}

function decompress(compression: string, stored: Buffer): Buffer | undefined {
  // Spec: LZ4 frame format: only block sizes from 4 on are defined.
  if (compression === "lz4" && ((stored[5] ?? 0) >> 4) % 8 < 4) return undefined;
  try {
    const { bytes, restBytes } = slowDecompress(compression, stored);
    return restBytes === 0 ? Buffer.from(bytes) : undefined;
  } catch {
    return undefined;
  }
}

/** Answers undefined if whole records do not fill the bytes. */
function readRecords(bytes: Buffer): Rec[] | undefined {
  const records: Rec[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    if (at + HEAD_BYTES > bytes.byteLength) return undefined;
    const from = at + HEAD_BYTES;
    const end = from + Number(bytes.readBigUInt64LE(at + 1));
    if (end > bytes.byteLength) return undefined;
    records.push({ opcode: bytes[at]!, content: bytes.subarray(from, end) });
    at = end;
  }
  return records;
}

function isSane({ opcode, content }: Rec): boolean {
  if (opcode === SCHEMA) return content.byteLength >= 14;
  if (opcode === CHANNEL) return readChannel(content) !== undefined;
  return opcode === MESSAGE && content.byteLength >= 22 && content.readBigUInt64LE(6) < 2n ** 63n;
}

/** Answers undefined if its fields do not fill the record. */
function readChannel(content: Buffer): { id: number; topic: string } | undefined {
  let at = 4;
  const texts: Buffer[] = [];
  for (let left = 3; left > 0; left -= 1) {
    if (at + 4 > content.byteLength) return undefined;
    const end = at + 4 + content.readUInt32LE(at);
    texts.push(content.subarray(at + 4, end));
    at = end;
  }
  if (at !== content.byteLength) return undefined;
  return { id: content.readUInt16LE(0), topic: texts[0]!.toString().replaceAll("\0", "\ufffd") };
}

function toMessage({ opcode, content }: Rec, topics: ReadonlyMap<number, string>): ScannedMessage[] {
  const topic = opcode === MESSAGE ? topics.get(content.readUInt16LE(0)) : undefined;
  if (topic === undefined) return [];
  const timeNs = content.readBigUInt64LE(6);
  return [{ topic, timeNs, key: keyOf(topic, timeNs, content.subarray(22)) }];
}

function provenSummary(bytes: Buffer): WholeChunk[] {
  const footerAt = bytes.byteLength - 8 - HEAD_BYTES - 20;
  if (footerAt < 0 || bytes[footerAt] !== FOOTER) return [];
  const start = Number(bytes.readBigUInt64LE(footerAt + HEAD_BYTES));
  const crc = bytes.readUInt32LE(bytes.byteLength - 12);
  if (crc === 0 || start >= footerAt || crc32(bytes.subarray(start, bytes.byteLength - 12)) !== crc) return [];
  return [{ records: readRecords(bytes.subarray(start, footerAt)) ?? [], isProven: true }];
}

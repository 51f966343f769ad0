import { decompressFrameSync } from "lz4-napi";
import { loadBzip2 } from "../../codecs/load-bzip2.ts";
import { keyOf, type ScannedMessage } from "./damaged-file.ts";

const bzip2 = await loadBzip2();

/**
 * Scans damaged bytes for the whole chunks of bags, byte by byte, and shares no code with our reader. Messages whose connection nothing
 * introduces are left out. Where one bag ends and another begins is known by the magic bytes.
 */
export function scanBag(damaged: Uint8Array): ScannedMessage[] {
  const bytes = Buffer.from(damaged);
  const starts = [...placesOf(bytes, magic)];
  const bounds = [...new Set([0, ...starts, bytes.byteLength])];
  return bounds.slice(0, -1).flatMap((start, index) => scanPart(bytes.subarray(start, bounds[index + 1]!)));
}

const magic = Buffer.from("#ROSBAG V2.0\n");

interface Record {
  readonly fields: ReadonlyMap<string, Buffer>;
  readonly data: Buffer;
  readonly end: number;
}

function scanPart(bytes: Buffer): ScannedMessage[] {
  const chunks = [...chunksOf(bytes)];
  const topics = new Map<number, string>();
  for (const records of [...chunks, [...looseConnections(bytes)]])
    for (const { fields } of records) {
      const [conn, topic] = [fields.get("conn"), fields.get("topic")];
      if (fields.get("op")?.[0] === 7 && conn && topic && !topics.has(conn.readUInt32LE(0)))
        topics.set(conn.readUInt32LE(0), topicOf(topic));
    }
  return chunks.flat().flatMap(({ fields, data }) => {
    const [conn, time] = [fields.get("conn"), fields.get("time")];
    const topic = conn && topics.get(conn.readUInt32LE(0));
    if (fields.get("op")?.[0] !== 2 || topic === undefined || !time) return [];
    const timeNs = BigInt(time.readUInt32LE(0)) * 1_000_000_000n + BigInt(time.readUInt32LE(4));
    return [{ topic, timeNs, key: keyOf(topic, timeNs, data) }];
  });
}

/** Our reader replaces invalid UTF-8, and the character 0, which databases refuse. */
function topicOf(bytes: Buffer): string {
  return bytes.toString().replaceAll("\0", "\ufffd");
}

/** The records of each chunk that is whole by every length and size, one behind the other. */
function* chunksOf(bytes: Buffer): Generator<Record[]> {
  let from = 0;
  for (const at of placesOf(bytes, Buffer.from("op=\u0005"))) {
    if (at < from) continue;
    for (let start = at - 8; start >= Math.max(from, at - 80); start -= 1) {
      const record = readRecord(bytes, start);
      const records = record && recordsIn(record);
      if (!records) continue;
      yield records;
      from = record.end;
      break;
    }
  }
}

function* looseConnections(bytes: Buffer): Generator<Record> {
  for (const at of placesOf(bytes, Buffer.from("op=\u0007")))
    for (let start = at - 8; start >= Math.max(0, at - 300); start -= 1) {
      const record = readRecord(bytes, start);
      if (record?.fields.get("op")?.[0] === 7 && isSane(record)) yield record;
    }
}

function recordsIn({ fields, data }: Record): Record[] | undefined {
  const size = fields.get("size");
  if (fields.get("op")?.[0] !== 5 || size?.byteLength !== 4 || data.byteLength === 0) return undefined;
  const content = decompress(fields.get("compression")?.toString(), data, size.readUInt32LE(0));
  if (content?.byteLength !== size.readUInt32LE(0)) return undefined;
  const records: Record[] = [];
  for (let at = 0; at < content.byteLength; ) {
    const record = readRecord(content, at);
    if (!record || !isSane(record)) return undefined;
    records.push(record);
    at = record.end;
  }
  return records;
}

function isSane({ fields, data }: Record): boolean {
  const opcode = fields.get("op")?.[0];
  if (fields.get("conn")?.byteLength !== 4) return false;
  const time = fields.get("time");
  if (opcode === 7) return fields.has("topic") && readFields(data) !== undefined;
  return opcode === 2 && time?.byteLength === 8 && time.readUInt32LE(4) < 1_000_000_000;
}

function decompress(compression: string | undefined, data: Buffer, sizeBytes: number): Buffer | undefined {
  try {
    if (compression === "lz4") return decompressFrameSync(data);
    if (compression === "bz2")
      return sizeBytes > MOST_BYTES ? undefined : Buffer.from(bzip2.decompress(data, sizeBytes));
    return data;
  } catch {
    return undefined;
  }
}

const MOST_BYTES = 1024 * 1024;

/** Answers undefined if no whole record with fields stands there. */
function readRecord(bytes: Buffer, start: number): Record | undefined {
  if (start < 0 || start + 8 > bytes.byteLength) return undefined;
  const headerEnd = start + 4 + bytes.readUInt32LE(start);
  if (headerEnd + 4 > bytes.byteLength || headerEnd - start > 4096) return undefined;
  const fields = readFields(bytes.subarray(start + 4, headerEnd));
  const end = headerEnd + 4 + bytes.readUInt32LE(headerEnd);
  if (!fields || fields.size === 0 || end > bytes.byteLength) return undefined;
  return { fields, data: bytes.subarray(headerEnd + 4, end), end };
}

/** Answers undefined if fields do not fill the bytes. */
function readFields(bytes: Buffer): Map<string, Buffer> | undefined {
  const fields = new Map<string, Buffer>();
  for (let at = 0; at < bytes.byteLength; ) {
    if (at + 4 > bytes.byteLength) return undefined;
    const end = at + 4 + bytes.readUInt32LE(at);
    const field = bytes.subarray(at + 4, end);
    const split = field.indexOf("=");
    if (end > bytes.byteLength || split < 1) return undefined;
    fields.set(field.subarray(0, split).toString(), field.subarray(split + 1));
    at = end;
  }
  return fields;
}

function* placesOf(bytes: Buffer, wanted: Buffer): Generator<number> {
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) yield at;
}

import { isKnownCompression } from "../codecs/decompress.ts";
import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { toText } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { type BagRecord, type RecordReading, readRecordHead } from "./record-frame.ts";
import { type BagHeader, magic, opcodeOf, opcodes, u32Of } from "./records.ts";

/**
 * Reads the head of the chunk at a place, also if its data end behind the file. If compressed data stand there by their own marks, their head
 * is lost, and they are a chunk whose sizes nothing says. Answers undefined if it is neither.
 */
export async function readChunkAt(offset: number, reading: RecordReading): Promise<BagRecord | undefined> {
  const compression = await compressionAt(offset, reading);
  if (compression) return headless(offset, compression);
  try {
    const record = await readRecordHead(offset, reading);
    if (!isChunk(record.header)) return undefined;
    return await nameCompression(record, reading);
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/** Only a chunk has a size and a compression. The opcode may be damaged, or the name of one of them. */
export function isChunk(header: BagHeader): boolean {
  return (header.fields.has("size") && header.fields.has("compression")) || opcodeOf(header) === opcodes.chunk;
}

function headless(offset: number, compression: string): BagRecord {
  const fields = new Map([
    ["size", new Uint8Array(4)],
    ["compression", Buffer.from(compression)],
  ]);
  const header = { fields, place: `the data at byte ${offset}`, code: "BadChunk" } as const;
  return { offset, header, dataOffset: offset, dataBytes: 0, end: offset };
}

/**
 * Names the compression of a chunk whose head lacks its name, or has a damaged one: data as large as they shall become are not compressed,
 * and compressed data begin with their own marks. Answers undefined if neither is true. Throws if the chunk has no size.
 */
export async function nameCompression(record: BagRecord, reading: RecordReading): Promise<BagRecord | undefined> {
  const { header, dataOffset, dataBytes } = record;
  const size = u32Of(header, "size");
  const name = header.fields.get("compression");
  if (name && isKnownCompression(toText(name))) return record;
  const isPlain = dataBytes > 0 && dataBytes === size;
  const compression = isPlain ? "none" : await compressionAt(dataOffset, reading);
  if (compression === undefined) return undefined;
  const fields = new Map(header.fields).set("compression", Buffer.from(compression));
  return { ...record, header: { ...header, fields } };
}

/** Names the compression of the data at a place by their marks. */
async function compressionAt(offset: number, { reader, context }: RecordReading): Promise<"lz4" | "bz2" | undefined> {
  if (offset + MARK_BYTES > context.source.sizeBytes) return undefined;
  const bytes = asBuffer(await reader.fetch(offset, MARK_BYTES));
  if (bytes.subarray(0, lz4Magic.byteLength).equals(lz4Magic)) return "lz4";
  return isBzip2(bytes, 0) ? "bz2" : undefined;
}

const lz4Magic = Buffer.from([0x04, 0x22, 0x4d, 0x18]);
/** bzip2 begins with its name and a level, and each of its blocks with the digits of pi. */
const bzip2Name = Buffer.from("BZh");
const bzip2Block = Buffer.from([0x31, 0x41, 0x59, 0x26, 0x53, 0x59]);
const MARK_BYTES = 10;

function isBzip2(bytes: Buffer, at: number): boolean {
  const isNamed = bytes.subarray(at, at + 3).equals(bzip2Name) && bytes[at + 3]! >= 0x31 && bytes[at + 3]! <= 0x39;
  return isNamed && bytes.subarray(at + 4, at + MARK_BYTES).equals(bzip2Block);
}

/** Whether the head of a chunk stands in the first megabyte. */
export async function holdsBagChunk(context: ReadContext): Promise<boolean> {
  const reading = { context, reader: openWindowReader(context), code: "BadRecord" } as const;
  const to = Math.min(SEARCHED_BYTES, context.source.sizeBytes);
  for await (const offset of findBagChunks(0, reading, to)) if (await readChunkAt(offset, reading)) return true;
  return false;
}

const SEARCHED_BYTES = 1024 * 1024;

/** The places from `from` on where the head of a chunk stands, or where another bag begins. Each byte is searched once. */
export async function* findBagChunks(
  from: number,
  reading: RecordReading,
  to: number = reading.context.source.sizeBytes,
): AsyncGenerator<number> {
  const { sizeBytes } = reading.context.source;
  for (let at = from; at < to; at += PIECE_BYTES) {
    const start = Math.max(from, at - MOST_HEADER_BYTES);
    const piece = asBuffer(
      await reading.reader.fetch(start, Math.min(at + PIECE_BYTES + OVERLAP_BYTES, sizeBytes) - start),
    );
    const places = [...placesIn(new Uint8Array(piece), at - start)];
    for (const place of places) {
      const offset = start + place;
      if (offset < from) continue;
      const isBag = piece[place] === magic[0];
      if (isBag || (await readChunkAt(offset, reading))) yield offset;
    }
  }
}

/** The places of a piece where a chunk's header may begin whose field `op` stands at `from` or behind it, and those of magics and of compressed data. */
function* placesIn(bytes: Uint8Array, from: number): Generator<number> {
  const piece = asBuffer(bytes);
  const found: number[] = [];
  for (let at = piece.indexOf(opField, from); at >= 0; at = piece.indexOf(opField, at + 1)) {
    if (at >= from + PIECE_BYTES) break;
    const start = startOfHeader(piece, at, MOST_HEADER_BYTES);
    if (start !== undefined) found.push(start);
  }
  for (const mark of [magic, lz4Magic, bzip2Name])
    for (let at = piece.indexOf(mark, from); at >= 0; at = piece.indexOf(mark, at + 1))
      if (at < from + PIECE_BYTES && (mark !== bzip2Name || isBzip2(piece, at))) found.push(at);
  yield* found.sort((a, b) => a - b);
}

/** The field that says that a record is a chunk, behind its length. */
const opField = Buffer.concat([Buffer.from([4, 0, 0, 0]), Buffer.from("op="), Buffer.of(opcodes.chunk)]);

/** Where the header begins that a field `op` is part of. It begins with its length, and its fields may stand in any order. */
export function startOfHeader(piece: Buffer, fieldAt: number, mostBytes: number): number | undefined {
  for (let start = fieldAt - 4; start >= Math.max(0, fieldAt - mostBytes); start -= 1) {
    const headerBytes = piece.readUInt32LE(start);
    const isAround = headerBytes <= mostBytes && start + 4 + headerBytes >= fieldAt + opField.byteLength;
    if (isAround && fieldsFill(piece, start + 4, start + 4 + headerBytes)) return start;
  }
  return undefined;
}

function fieldsFill(piece: Buffer, from: number, end: number): boolean {
  if (end > piece.byteLength) return false;
  let at = from;
  while (at + 4 <= end) at += 4 + piece.readUInt32LE(at);
  return at === end;
}

/** The header of a chunk holds an opcode, a size and the name of a compression. */
const MOST_HEADER_BYTES = 128;
const OVERLAP_BYTES = 256;
const PIECE_BYTES = 1024 * 1024;

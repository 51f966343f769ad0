import { isKnownCompression } from "../codecs/decompress.ts";
import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { toText } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { type BagRecord, type RecordReading, readRecordHead } from "./record-frame.ts";
import { magic, opcodeOf, opcodes, u32Of } from "./records.ts";

/** Reads the head of the chunk at a place, also if its data end behind the file. Answers undefined if no chunk's head stands there. */
export async function readChunkAt(offset: number, reading: RecordReading): Promise<BagRecord | undefined> {
  try {
    const record = await readRecordHead(offset, reading);
    if (opcodeOf(record.header) !== opcodes.chunk) return undefined;
    return await nameCompression(record, reading);
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/**
 * Names the compression of a chunk whose head lacks its name, or has a damaged one: data as large as they shall become are not compressed,
 * and an LZ4 frame begins with its magic. Answers undefined if neither is true. Throws if the chunk has no size.
 */
export async function nameCompression(record: BagRecord, reading: RecordReading): Promise<BagRecord | undefined> {
  const { header, dataOffset, dataBytes } = record;
  const size = u32Of(header, "size");
  const name = header.fields.get("compression");
  if (name && isKnownCompression(toText(name))) return record;
  const isPlain = dataBytes > 0 && dataBytes === size;
  if (!isPlain && !(await holdsFrame(dataOffset, reading))) return undefined;
  const fields = new Map(header.fields).set("compression", Buffer.from(isPlain ? "none" : "lz4"));
  return { ...record, header: { ...header, fields } };
}

async function holdsFrame(offset: number, { reader, context }: RecordReading): Promise<boolean> {
  if (offset + lz4Magic.byteLength > context.source.sizeBytes) return false;
  return lz4Magic.equals(await reader.fetch(offset, lz4Magic.byteLength));
}

const lz4Magic = Buffer.from([0x04, 0x22, 0x4d, 0x18]);

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

/** The places of a piece where a chunk's header may begin whose field `op` stands at `from` or behind it, and those of magics. */
function* placesIn(bytes: Uint8Array, from: number): Generator<number> {
  const piece = asBuffer(bytes);
  const found: number[] = [];
  for (let at = piece.indexOf(opField, from); at >= 0; at = piece.indexOf(opField, at + 1)) {
    if (at >= from + PIECE_BYTES) break;
    const start = startOfHeader(piece, at, MOST_HEADER_BYTES);
    if (start !== undefined) found.push(start);
  }
  for (let at = piece.indexOf(magic, from); at >= 0; at = piece.indexOf(magic, at + 1))
    if (at < from + PIECE_BYTES) found.push(at);
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

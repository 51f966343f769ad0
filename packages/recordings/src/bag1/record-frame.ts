import { type ReasonCode, RecordingError } from "../faults/reasons.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { refuseBeyond, type WindowReader } from "../reading/window-reader.ts";
import { type BagHeader, magic, opcodeOf, opcodes, parseHeader, u32Of } from "./records.ts";

/** A record of a bag: a header of fields, then data. */
export interface BagRecord {
  readonly offset: number;
  readonly header: BagHeader;
  readonly dataOffset: number;
  readonly dataBytes: number;
  /** First byte after the record. */
  readonly end: number;
}

export interface RecordReading {
  readonly reader: WindowReader;
  readonly context: ReadContext;
  /** The code of errors. */
  readonly code: ReasonCode;
}

/** Reads a record's header. Throws if the record is not whole. */
export async function readRecord(offset: number, reading: RecordReading): Promise<BagRecord> {
  const record = await readRecordHead(offset, reading);
  const { dataOffset, dataBytes } = record;
  refuseBeyond({ offset: dataOffset, length: dataBytes, sizeBytes: reading.context.source.sizeBytes });
  return record;
}

/** Reads a record's header, also if its data end behind the file. */
export async function readRecordHead(offset: number, { reader, context, code }: RecordReading): Promise<BagRecord> {
  const { sizeBytes } = context.source;
  const headerBytes = await readLength(offset, reader);
  if (headerBytes > MAX_HEADER_BYTES) {
    refuseBeyond({ offset, length: headerBytes, sizeBytes });
    throw new RecordingError(
      code,
      `the record at byte ${offset} has a header of ${headerBytes} bytes; the file is damaged there`,
    );
  }
  // The header is copied, because reading the data length may move the window.
  const header = new Uint8Array(await reader.fetch(offset + 4, headerBytes));
  const dataOffset = offset + 8 + headerBytes;
  const dataBytes = await readLength(dataOffset - 4, reader);
  return {
    offset,
    header: parseHeader(header, `the record at byte ${offset}`, code),
    dataOffset,
    dataBytes,
    end: dataOffset + dataBytes,
  };
}

/** Real headers hold a topic name and a few numbers. */
const MAX_HEADER_BYTES = 64 * 1024;

async function readLength(offset: number, reader: WindowReader): Promise<number> {
  const bytes = reader.peek(offset, 4) ?? (await reader.fetch(offset, 4));
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
}

/** Throws if a record of the index holds another number of entries than its header says. */
export function requireEntries({ offset, header, dataBytes }: BagRecord): void {
  const entryBytes = entrySizes[opcodeOf(header)];
  if (entryBytes === undefined || u32Of(header, "count") * entryBytes === dataBytes) return;
  const kind = opcodeOf(header) === opcodes.indexData ? "index data" : "chunk info";
  throw new RecordingError(header.code, `the ${kind} at byte ${offset} has a wrong length; the file is damaged there`);
}

/** The sizes of an entry in bytes: of a message in index data, and of a connection in a chunk info. */
const entrySizes: Readonly<Record<number, number>> = { [opcodes.indexData]: 12, [opcodes.chunkInfo]: 8 };

/** Reads the data of a record into memory. */
export async function readData(record: BagRecord, reader: WindowReader, { limits }: ReadContext): Promise<Uint8Array> {
  if (record.dataBytes > limits.maxRecordBytes) {
    const text = `the record at byte ${record.offset} holds ${record.dataBytes} bytes; at most ${limits.maxRecordBytes} are read`;
    throw new RecordingError("RecordTooLarge", text);
  }
  return new Uint8Array(await reader.fetch(record.dataOffset, record.dataBytes));
}

/** Whether another bag begins there. */
export async function isBagStart(
  offset: number,
  { reader, context }: Pick<RecordReading, "reader" | "context">,
): Promise<boolean> {
  const { byteLength } = magic;
  if (offset + byteLength > context.source.sizeBytes) return false;
  return magic.equals(reader.peek(offset, byteLength) ?? (await reader.fetch(offset, byteLength)));
}

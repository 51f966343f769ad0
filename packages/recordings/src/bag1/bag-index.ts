import { RecordingError } from "../faults/reasons.ts";
import { openCursor, readU32 } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader, type WindowReader } from "../reading/window-reader.ts";
import { addChunk, addSpan, addTally, createSurvey, hasChannel, type Survey } from "../survey/survey.ts";
import { type BagRecord, isBagStart, readData, readRecord } from "./record-frame.ts";
import { magic, opcodeOf, opcodes, readConnection, timeOf, u32Of, u64Of } from "./records.ts";
import { addConnection } from "./to-survey.ts";

/**
 * Surveys a bag by its index section, which must hold as many connections and chunk infos as the bag header says, and end exactly at the
 * end of the file. Throws `ActiveBag` or `NoEnd` if the index was not written, or not as a whole.
 */
export async function indexBag(context: ReadContext): Promise<Survey> {
  return (await readBagIndex(context)).survey;
}

export interface BagIndex {
  readonly survey: Survey;
  /** Where the index begins, and the first and the last chunk that it names; infinite if it names none. */
  readonly indexPosition: number;
  readonly firstChunk: number;
  readonly lastChunk: number;
}

/** Throws as {@link indexBag} does. */
export async function readBagIndex(context: ReadContext): Promise<BagIndex> {
  const reader = openWindowReader(context);
  const head = await readBagHeader(reader, context);
  const { sizeBytes } = context.source;
  if (head.indexPosition > sizeBytes)
    throw truncated(`its index should begin at byte ${head.indexPosition}`, sizeBytes);
  const survey = createSurvey();
  let offset = head.indexPosition;
  for (let left = head.connectionCount; left > 0; left -= 1) {
    const record = await readIndexRecord(offset, { reader, context });
    requireOpcode(record, opcodes.connection);
    addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
    offset = record.end;
  }
  let [firstChunk, lastChunk] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let left = head.chunkCount; left > 0; left -= 1) {
    const record = await readIndexRecord(offset, { reader, context });
    requireOpcode(record, opcodes.chunkInfo);
    const position = u64Of(record.header, "chunk_pos");
    [firstChunk, lastChunk] = [Math.min(firstChunk, position), Math.max(lastChunk, position)];
    await addChunkInfo(survey, record, { reader, context, indexPosition: head.indexPosition });
    offset = record.end;
  }
  if (offset !== sizeBytes && (await isBagStart(offset, { reader, context }))) throw joinedAt(offset);
  if (offset !== sizeBytes) throw badIndex(offset, `ends before the end of the file (${sizeBytes} bytes)`);
  survey.readableBytes = sizeBytes;
  return { survey, indexPosition: head.indexPosition, firstChunk, lastChunk };
}

export interface BagHead {
  readonly indexPosition: number;
  readonly connectionCount: number;
  readonly chunkCount: number;
}

export async function readBagHeader(reader: WindowReader, context: ReadContext): Promise<BagHead> {
  const { sizeBytes } = context.source;
  let record: BagRecord;
  try {
    record = await readRecord(magic.byteLength, { reader, context, code: "BadRecord" });
  } catch (error) {
    if (!isCutOff(error)) throw error;
    throw truncated("its first record is not whole", sizeBytes);
  }
  requireOpcode(record, opcodes.bagHeader);
  const indexPosition = u64Of(record.header, "index_pos");
  if (indexPosition === 0) {
    const text =
      "the bag has no index: it is still being recorded, or recording was cut off. A salvage reads what is there, and `rosbag reindex` can repair the bag";
    throw new RecordingError("ActiveBag", text);
  }
  if (indexPosition < record.end) throw badIndex(indexPosition, "begins inside the bag header");
  return {
    indexPosition,
    connectionCount: u32Of(record.header, "conn_count"),
    chunkCount: u32Of(record.header, "chunk_count"),
  };
}

export async function readIndexRecord(
  offset: number,
  { reader, context }: { reader: WindowReader; context: ReadContext },
): Promise<BagRecord> {
  try {
    return await readRecord(offset, { reader, context, code: "BadSummary" });
  } catch (error) {
    if (!isCutOff(error)) throw error;
    throw truncated(`its index is cut off at byte ${offset}`, context.source.sizeBytes);
  }
}

interface ChunkInfoReading {
  readonly reader: WindowReader;
  readonly context: ReadContext;
  readonly indexPosition: number;
}

/** Chunk infos give counts per connection, but one time span for all of them. */
async function addChunkInfo(survey: Survey, record: BagRecord, reading: ChunkInfoReading): Promise<void> {
  const { reader, context, indexPosition } = reading;
  const { header } = record;
  if (u32Of(header, "ver") !== 1) throw badIndex(record.offset, "has a chunk info of another version");
  if (u64Of(header, "chunk_pos") >= indexPosition)
    throw badIndex(record.offset, "points at a chunk outside of the file");
  const connectionCount = u32Of(header, "count");
  const startNs = timeOf(header, "start_time");
  const endNs = timeOf(header, "end_time");
  const data = await readData(record, reader, context);
  if (connectionCount * 8 !== data.byteLength) throw badIndex(record.offset, "has a chunk info of a wrong length");
  addChunk(survey, 0, { sizeBytes: context.source.sizeBytes, limits: context.limits });
  const cursor = openCursor(data, `the record at byte ${record.offset}`, "BadSummary");
  for (let left = connectionCount; left > 0; left -= 1) {
    const channelId = readU32(cursor) + 1;
    if (!hasChannel(survey, channelId))
      throw badIndex(record.offset, `names connection ${channelId - 1}, which is not in the file`);
    addTally(survey, channelId, { messageCount: readU32(cursor) });
  }
  if (connectionCount === 0) return;
  if (endNs < startNs) throw badIndex(record.offset, "has a chunk that ends before it begins");
  addSpan(survey, startNs, endNs);
}

export function requireOpcode(record: BagRecord, opcode: number): void {
  if (opcodeOf(record.header) === opcode) return;
  const text = `the record at byte ${record.offset} is of another kind than the bag's header says; the file is damaged there`;
  throw new RecordingError(record.header.code, text);
}

function isCutOff(error: unknown): boolean {
  return error instanceof RecordingError && error.reason.code === "LengthBeyondFile";
}

function truncated(what: string, sizeBytes: number): RecordingError {
  const text = `the bag has no end (${sizeBytes} bytes): ${what}. It is still being written, or recording or copying it was cut off`;
  return new RecordingError("NoEnd", text);
}

function badIndex(offset: number, what: string): RecordingError {
  return new RecordingError(
    "BadSummary",
    `the bag's index at byte ${offset} ${what}; a salvage reads the bag without it, and \`rosbag reindex\` can repair it`,
  );
}

function joinedAt(offset: number): RecordingError {
  const text = `another bag begins at byte ${offset}: bags were joined to one, which no reader reads whole. A salvage reads all of them`;
  return new RecordingError("BadSummary", text);
}

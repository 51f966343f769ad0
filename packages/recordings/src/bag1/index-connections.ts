import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { hasChannel, type Survey } from "../survey/survey.ts";
import { startOfHeader } from "./find-bag-chunk.ts";
import { type BagRecord, type RecordReading, readData, readRecord } from "./record-frame.ts";
import { channelIdOf, magic, opcodeOf, opcodes, readConnection, u64Of } from "./records.ts";
import { addConnection } from "./to-survey.ts";

/**
 * Adds the connections in the index section that are not known: those that damage took out of the chunks. Nothing that is wrong with the
 * index is an error.
 */
export async function introduceConnections(survey: Survey, reading: RecordReading): Promise<void> {
  const { sizeBytes } = reading.context.source;
  let offset = await indexPositionOf(reading);
  if (offset === undefined)
    for (const place of await searchConnections(reading)) await introduce(place, survey, reading);
  while (offset !== undefined && offset < sizeBytes) offset = await introduce(offset, survey, reading);
}

/** Answers where the next connection may stand. */
async function introduce(offset: number, survey: Survey, reading: RecordReading): Promise<number | undefined> {
  try {
    const record = await readRecord(offset, reading);
    if (opcodeOf(record.header) !== opcodes.connection) return undefined;
    if (!hasChannel(survey, channelIdOf(record.header))) await add(record, survey, reading);
    return record.end;
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

async function add(record: BagRecord, survey: Survey, { reader, context }: RecordReading): Promise<void> {
  addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
}

/** The bag header names the place. */
async function indexPositionOf(reading: RecordReading): Promise<number | undefined> {
  try {
    const record = await readRecord(magic.byteLength, reading);
    return opcodeOf(record.header) === opcodes.bagHeader ? u64Of(record.header, "index_pos") || undefined : undefined;
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/** Answers where connections stand near the end of a bag whose header is lost. */
async function searchConnections({ context: { source } }: RecordReading): Promise<number[]> {
  const start = Math.max(0, source.sizeBytes - SEARCHED_BYTES);
  const bytes = asBuffer(await source.read(start, source.sizeBytes - start));
  const places: number[] = [];
  for (let at = bytes.indexOf(opField); at >= 0; at = bytes.indexOf(opField, at + 1)) {
    const place = startOfHeader(bytes, at, MOST_HEADER_BYTES);
    if (place !== undefined) places.push(start + place);
  }
  return places;
}

const SEARCHED_BYTES = 1024 * 1024;
/** The header of a connection holds its topic. */
const MOST_HEADER_BYTES = 1024;
const opField = Buffer.concat([Buffer.from([4, 0, 0, 0]), Buffer.from("op="), Buffer.of(opcodes.connection)]);

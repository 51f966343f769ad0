import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { hasChannel, mostChannels, type Survey } from "../survey/survey.ts";
import { startOfHeader } from "./find-bag-chunk.ts";
import { type RecordReading, readData, readRecord } from "./record-frame.ts";
import { type Connection, magic, opcodeOf, opcodes, readConnection, u64Of } from "./records.ts";
import { addConnection } from "./to-survey.ts";

/** Connections that stand outside of the chunks that can be read. They count only where no chunk introduces one of the same number. */
export type SpareConnections = Map<number, Connection>;

/**
 * Finds the connections in the index section: those that damage took out of the chunks. Nothing that is wrong with the index is an error.
 * If the bag header is lost, and another bag stands near the end of the file, its index is not taken for that of this one.
 */
export async function findIndexed(spare: SpareConnections, reading: RecordReading): Promise<void> {
  const { source } = reading.context;
  const { sizeBytes } = source;
  let offset = await indexPositionOf(reading);
  while (offset !== undefined && offset < sizeBytes) offset = await note(offset, spare, reading);
  if (spare.size > 0) return;
  const from = Math.max(0, sizeBytes - SEARCHED_BYTES);
  const isOtherThere = asBuffer(await source.read(from, sizeBytes - from)).indexOf(magic, from === 0 ? 1 : 0) >= 0;
  if (!isOtherThere) await searchConnections({ from, to: sizeBytes }, spare, reading);
}

/** Finds connections that stand, not compressed, in bytes that make no sense. Only the first megabyte is searched. */
export async function searchConnections(
  { from, to }: { from: number; to: number },
  spare: SpareConnections,
  reading: RecordReading,
): Promise<void> {
  const start = Math.max(0, from);
  const bytes = asBuffer(await reading.context.source.read(start, Math.min(to - start, SEARCHED_BYTES)));
  for (let at = bytes.indexOf(opField); at >= 0; at = bytes.indexOf(opField, at + 1)) {
    const place = startOfHeader(bytes, at, MOST_HEADER_BYTES);
    if (place !== undefined) await note(start + place, spare, reading);
  }
}

/** Answers where the next connection may stand. */
async function note(offset: number, spare: SpareConnections, reading: RecordReading): Promise<number | undefined> {
  try {
    const record = await readRecord(offset, reading);
    if (opcodeOf(record.header) !== opcodes.connection || spare.size >= mostChannels) return undefined;
    const connection = readConnection(record.header, await readData(record, reading.reader, reading.context));
    if (!spare.has(connection.channel.id)) spare.set(connection.channel.id, copyOf(connection));
    return record.end;
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/** The message definition is a view of what was read. */
function copyOf({ schema, channel }: Connection): Connection {
  return { channel, schema: { ...schema, data: new Uint8Array(schema.data) } };
}

/** Adds the connections that no chunk introduced. Too many of them are no reason to lose what was read. */
export function addSpare(spare: SpareConnections, survey: Survey, context: ReadContext): void {
  for (const [channelId, connection] of spare) {
    try {
      if (!hasChannel(survey, channelId)) addConnection(survey, connection, context);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
    }
  }
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

const SEARCHED_BYTES = 1024 * 1024;
/** The header of a connection holds its topic. */
const MOST_HEADER_BYTES = 1024;
const opField = Buffer.concat([Buffer.from([4, 0, 0, 0]), Buffer.from("op="), Buffer.of(opcodes.connection)]);

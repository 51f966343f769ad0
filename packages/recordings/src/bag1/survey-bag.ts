import { RecordingError } from "../faults/reasons.ts";
import { type ChunkHeader, placeOf } from "../reading/chunk.ts";
import { openCursor } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { addFirst, type ChunkToTally, tallyChunk } from "../reading/tally-chunk.ts";
import { openWindowReader, type WindowReader } from "../reading/window-reader.ts";
import { addChannel, addSchema, extendSpan, mostChannels, type Survey, type Tally } from "../survey/survey.ts";
import { type BagRecord, readData, readRecord } from "./record-frame.ts";
import {
  type Connection,
  channelIdOf,
  magic,
  opcodeOf,
  opcodes,
  readConnection,
  readRosTime,
  textOf,
  u32Of,
} from "./records.ts";
import { createPieceVisitor, type PieceVisitor } from "./visit-pieces.ts";

/**
 * Skims a bag from its start: counts and times come from the index data behind each chunk. A chunk is decompressed only if it has none, or
 * if they name a connection that was not seen yet. Fills `survey` until something throws.
 */
export async function surveyBag(survey: Survey, context: ReadContext): Promise<void> {
  const reader = openWindowReader(context);
  let offset: number = magic.byteLength;
  while (offset < context.source.sizeBytes) {
    const record = await readRecord(offset, { reader, context, code: "BadRecord" });
    const opcode = opcodeOf(record.header);
    offset = record.end;
    if (opcode === opcodes.chunk) {
      const { indexed, end } = await readIndexes(record.end, { reader, context });
      offset = end;
      const toTally = { chunk: toChunk(record), indexed, scan: scanInto(survey, context) };
      await tallyChunk(survey, toTally, context);
    } else if (opcode === opcodes.connection) {
      addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
    } else if (opcode === opcodes.message) {
      throw new RecordingError(
        "BadRecord",
        `the record at byte ${record.offset} is a message outside of a chunk; the file is damaged there`,
      );
    }
    survey.readableBytes = offset;
  }
}

function scanInto(survey: Survey, context: ReadContext): ChunkToTally["scan"] {
  return async (pieces, chunk) => {
    const tallies = new Map<number, Tally>();
    const visitor: PieceVisitor = {
      connection: (header, data) => addConnection(survey, readConnection(header, data), context),
      message({ channelId, logTimeNs }) {
        const tally = tallies.get(channelId) ?? { messageCount: 0 };
        if (tally.messageCount === 0) addFirst(tallies, channelId, { tally, most: mostChannelsOf(context) });
        tally.messageCount += 1;
        extendSpan(tally, logTimeNs, logTimeNs);
      },
    };
    const records = createPieceVisitor(placeOf(chunk), visitor, context.limits.maxRecordBytes);
    for await (const piece of pieces) records.push(piece);
    records.end();
    return tallies;
  };
}

/** The most channels that are read. If channels are left out, it is the most that a file may have at all. */
function mostChannelsOf({ limits }: ReadContext): number {
  return limits.leavesOut ? mostChannels : limits.maxChannels;
}

export function addConnection(survey: Survey, connection: Connection, { limits }: ReadContext): void {
  addSchema(survey, connection.schema, limits);
  addChannel(survey, connection.channel, limits);
}

export function toChunk({ header, offset, dataOffset, dataBytes }: BagRecord): ChunkHeader {
  return {
    offset,
    dataOffset,
    storedBytes: dataBytes,
    uncompressedBytes: u32Of(header, "size"),
    compression: textOf(header, "compression"),
    crc: 0,
  };
}

/** Reads the index data records behind a chunk, one for each of its connections. */
async function readIndexes(
  offset: number,
  { reader, context }: { reader: WindowReader; context: ReadContext },
): Promise<{ indexed: Map<number, Tally>; end: number }> {
  const indexed = new Map<number, Tally>();
  let end = offset;
  while (end < context.source.sizeBytes) {
    const record = await readRecord(end, { reader, context, code: "BadRecord" });
    if (opcodeOf(record.header) !== opcodes.indexData) break;
    await tallyIndex(record, indexed, { reader, context });
    end = record.end;
  }
  return { indexed, end };
}

async function tallyIndex(
  record: BagRecord,
  indexed: Map<number, Tally>,
  { reader, context }: { reader: WindowReader; context: ReadContext },
): Promise<void> {
  const { header, dataOffset, dataBytes } = record;
  const channelId = channelIdOf(header);
  const messageCount = u32Of(header, "count");
  if (messageCount * INDEX_ENTRY_BYTES !== dataBytes) {
    throw new RecordingError(
      "BadRecord",
      `the index data at byte ${record.offset} has a wrong length; the file is damaged there`,
    );
  }
  const tally = indexed.get(channelId) ?? { messageCount: 0 };
  if (messageCount > 0 && tally.messageCount === 0)
    addFirst(indexed, channelId, { tally, most: mostChannelsOf(context) });
  tally.messageCount += messageCount;
  for (let done = 0; done < dataBytes; done += INDEX_PIECE_BYTES) {
    const piece = await reader.fetch(dataOffset + done, Math.min(INDEX_PIECE_BYTES, dataBytes - done));
    extendByEntries(tally, piece, record.offset);
  }
}

const INDEX_ENTRY_BYTES = 12;
const INDEX_PIECE_BYTES = INDEX_ENTRY_BYTES * 16 * 1024;

function extendByEntries(tally: Tally, bytes: Uint8Array, offset: number): void {
  const cursor = openCursor(bytes, `the index data at byte ${offset}`);
  for (; cursor.position < bytes.byteLength; cursor.position += 4) {
    const timeNs = readRosTime(cursor);
    if (tally.startNs === undefined || timeNs < tally.startNs) tally.startNs = timeNs;
    if (tally.endNs === undefined || timeNs > tally.endNs) tally.endNs = timeNs;
  }
}

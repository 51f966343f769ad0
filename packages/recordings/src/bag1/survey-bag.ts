import { RecordingError } from "../faults/reasons.ts";
import { placeOf } from "../reading/chunk.ts";
import { openCursor } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { addFirst, type ChunkToTally, tallyChunk } from "../reading/tally-chunk.ts";
import { openWindowReader, type WindowReader } from "../reading/window-reader.ts";
import { extendSpan, mostChannels, type Survey, type Tally } from "../survey/survey.ts";
import type { DamageLog } from "../verified/damage-log.ts";
import { createUnknownChannels } from "../verified/unknown-channels.ts";
import { type BagRecord, readRecord, requireEntries } from "./record-frame.ts";
import { channelIdOf, opcodeOf, opcodes, readConnection, readRosTime, u32Of } from "./records.ts";
import { addConnection } from "./to-survey.ts";
import { createPieceVisitor, type PieceVisitor } from "./visit-pieces.ts";
import { type DamagedBagVisitor, walkDamagedBag } from "./walk-damaged-bag.ts";

/**
 * Skims a bag that is not whole: counts and times come from the index data behind each chunk. A chunk is decompressed only if it has none,
 * or if they name a connection that was not seen yet. A part that makes no sense is noted as damage, and the records behind it are read.
 * Answers where another bag begins, or the file ends.
 */
export async function surveyBag(survey: Survey, context: ReadContext, damage: DamageLog): Promise<number> {
  const reader = openWindowReader(context);
  const scan = scanInto(survey, context);
  const unknown = createUnknownChannels();
  const onUnknown = unknown.add;
  const visitor: DamagedBagVisitor = {
    async chunk(chunk, chunkEnd) {
      const { indexed, end } = await readIndexes(chunkEnd, { reader, context });
      await tallyChunk(survey, { chunk, indexed, scan, onUnknown }, context);
      return end;
    },
    begun: (chunk) => tallyChunk(survey, { chunk, indexed: new Map(), scan, onUnknown }, context),
    async lost({ chunk, end, reason }) {
      damage.addChunk({ offset: chunk.offset, end, reason, messagesLost: undefined });
    },
    gap: (gap) => damage.addGap(gap),
  };
  const end = await walkDamagedBag({ survey, context, reader, visitor, code: "BadRecord" });
  unknown.settle(survey, damage);
  return end;
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

/**
 * Reads the index data records behind a chunk, one for each of its connections. If they are cut off, make no sense, or end at a record that
 * does not come behind them, they count as none, because the chunk before them may be sound. They count as none, too, if the file ends
 * with one: it may have been cut between two.
 */
async function readIndexes(
  offset: number,
  { reader, context }: { reader: WindowReader; context: ReadContext },
): Promise<{ indexed: Map<number, Tally>; end: number }> {
  const indexed = new Map<number, Tally>();
  let end = offset;
  try {
    while (end < context.source.sizeBytes) {
      const record = await readRecord(end, { reader, context, code: "BadRecord" });
      const opcode = opcodeOf(record.header);
      if (opcode !== opcodes.indexData && !record.header.fields.has(ownFields[opcode] ?? "")) throw noIndexData(end);
      if (opcode !== opcodes.indexData) return { indexed, end };
      await tallyIndex(record, indexed, { reader, context });
      end = record.end;
    }
    return { indexed: new Map(), end };
  } catch (error) {
    if (error instanceof RecordingError) return { indexed: new Map(), end: offset };
    throw error;
  }
}

/** A field of each kind of record that may come behind index data. */
const ownFields: Readonly<Record<number, string>> = {
  [opcodes.chunk]: "size",
  [opcodes.connection]: "topic",
  [opcodes.chunkInfo]: "chunk_pos",
};

/** It is index data of which only the opcode is damaged, or rubbish. */
function noIndexData(offset: number): RecordingError {
  return new RecordingError("BadRecord", `the record at byte ${offset} is none that comes behind index data`);
}

async function tallyIndex(
  record: BagRecord,
  indexed: Map<number, Tally>,
  { reader, context }: { reader: WindowReader; context: ReadContext },
): Promise<void> {
  const { header, dataOffset, dataBytes } = record;
  const channelId = channelIdOf(header);
  const messageCount = u32Of(header, "count");
  requireEntries(record);
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

import { type Reason, RecordingError } from "../faults/reasons.ts";
import { type Beginning, findBeginning } from "../reading/begun-chunk.ts";
import { type BoundedJudging, boundJudging } from "../reading/bound-judging.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import { hasChannel, type Survey } from "../survey/survey.ts";
import { findBagChunks, readChunkAt } from "./find-bag-chunk.ts";
import { introduceConnections } from "./index-connections.ts";
import {
  type BagRecord,
  isBagStart,
  type RecordReading,
  readData,
  readRecord,
  readRecordHead,
} from "./record-frame.ts";
import { magic, opcodeOf, opcodes, readConnection } from "./records.ts";
import { seeBagRecords } from "./see-bag-record.ts";
import { addConnection, toChunk } from "./to-survey.ts";

/** What is done with the parts of a bag that is not whole. */
export interface DamagedBagVisitor {
  /** Reads a chunk whose lengths make sense. Answers where the next record begins. Throws if the chunk cannot be read. */
  chunk(chunk: ChunkHeader, end: number): Promise<number>;
  /** Reads the chunk as far as it makes sense. */
  begun(chunk: ChunkHeader): Promise<void>;
  /** Notes a chunk of which nothing can be read. */
  lost(lost: { chunk: ChunkHeader; end: number; reason: Reason }): Promise<void>;
  /** Notes bytes of which nothing was read. `begun` is the chunk whose rest they are. */
  gap(gap: { offset: number; end: number; reason: Reason; begun?: Beginning | undefined }): void;
}

export interface DamagedBagWalk extends RecordReading {
  readonly survey: Survey;
  readonly visitor: DamagedBagVisitor;
}

/** `isIntroduced`: the connections in the index were added, which costs reading, so that it is done once and only behind damage. */
type Walk = DamagedBagWalk & { isIntroduced: boolean; readonly bounded: BoundedJudging };

/**
 * Walks a bag whatever is wrong with it, from its first record on: a chunk in progress is read as far as it makes sense, and behind a place
 * that makes no sense the next chunk is looked for. Answers where the bag ends because another one begins, or where the file ends.
 */
export async function walkDamagedBag(given: DamagedBagWalk): Promise<number> {
  const walk = { ...given, isIntroduced: false, bounded: boundJudging(given.context) };
  const { sizeBytes } = walk.context.source;
  let offset: number = magic.byteLength;
  while (offset < sizeBytes) {
    if (await isBagStart(offset, walk)) return offset;
    try {
      offset = await visitRecord(offset, walk);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      offset = await goOn(offset, error.reason, walk);
    }
  }
  return sizeBytes;
}

/** Answers where the next record begins. */
async function visitRecord(offset: number, walk: Walk): Promise<number> {
  const { survey, context, reader, visitor } = walk;
  const record = await readRecord(offset, walk);
  const opcode = opcodeOf(record.header);
  if (opcode === opcodes.chunk) {
    const chunk = toChunk(record);
    return isOpen(chunk) ? visitOpen(chunk, record, walk) : visitor.chunk(chunk, record.end);
  }
  if (opcode === opcodes.connection)
    addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
  if (opcode === opcodes.message) return visitLoose(offset, walk);
  return record.end;
}

/** rosbag writes the sizes of a chunk when it closes it, and 0 before. */
function isOpen({ storedBytes, uncompressedBytes }: ChunkHeader): boolean {
  return storedBytes === 0 && uncompressedBytes === 0;
}

/** What an open chunk holds that is not compressed stands behind it as records that look like any other. */
async function visitOpen(chunk: ChunkHeader, record: BagRecord, walk: Walk): Promise<number> {
  const isPlain = chunk.compression === "none";
  const beginning = isPlain ? undefined : await beginningOf(chunk, walk.context.source.sizeBytes, walk);
  if (!beginning) return record.end;
  return visitBegun(beginning, unfinished(chunk.offset), walk);
}

/** Messages outside of chunks are what a chunk holds that was never closed. */
async function visitLoose(offset: number, walk: Walk): Promise<number> {
  const sizes = { storedBytes: 0, uncompressedBytes: 0, crc: 0 };
  const chunk = { offset, dataOffset: offset, compression: "none", ...sizes };
  const beginning = await beginningOf(chunk, walk.context.source.sizeBytes, walk);
  const reason = unfinished(offset);
  if (!beginning) throw new RecordingError(reason.code, reason.text);
  return visitBegun(beginning, reason, walk);
}

/** Answers where to go on behind a record that makes no sense. */
async function goOn(offset: number, reason: Reason, walk: Walk): Promise<number> {
  if (!walk.isIntroduced) await introduceConnections(walk.survey, walk);
  walk.isIntroduced = true;
  const record = await readChunkAt(offset, walk);
  if (!record) return visitGap({ offset, from: offset + 1, reason }, walk);
  const { sizeBytes } = walk.context.source;
  const chunk = toChunk(record);
  const isFramed = record.end <= sizeBytes && (record.end === sizeBytes || (await startsRecord(record.end, walk)));
  const beginning = await beginningOf(chunk, isFramed ? record.end : sizeBytes, walk);
  if (!isFramed && beginning) return visitBegun(beginning, reason, walk);
  if (!isFramed) return visitGap({ offset, from: offset + 1, reason }, walk);
  if (!beginning) await walk.visitor.lost({ chunk, end: record.end, reason });
  else {
    await walk.visitor.begun(beginning.chunk);
    walk.visitor.gap({ offset: beginning.end, end: record.end, reason, begun: beginning });
  }
  return record.end;
}

async function startsRecord(offset: number, walk: Walk): Promise<boolean> {
  try {
    opcodeOf((await readRecordHead(offset, walk)).header);
    return true;
  } catch (error) {
    if (error instanceof RecordingError) return isBagStart(offset, walk);
    throw error;
  }
}

function beginningOf(chunk: ChunkHeader, limit: number, walk: Walk): Promise<Beginning | undefined> {
  const { survey, bounded } = walk;
  const { context } = bounded;
  if (bounded.isExhausted()) return Promise.resolve(undefined);
  const see = seeBagRecords((channelId) => hasChannel(survey, channelId), context.limits.maxRecordBytes);
  return findBeginning(chunk, { context, see, limit, span: { startNs: survey.startNs, endNs: survey.endNs } });
}

/** Reads a beginning whose end is not known by any length, and what stands behind it from the next chunk on. */
async function visitBegun(beginning: Beginning, reason: Reason, walk: Walk): Promise<number> {
  await walk.visitor.begun(beginning.chunk);
  return visitGap({ offset: beginning.end, from: beginning.end, reason, begun: beginning }, walk);
}

async function visitGap(
  { from, ...gap }: { offset: number; from: number; reason: Reason; begun?: Beginning },
  walk: Walk,
): Promise<number> {
  const end = (await findNext(from, walk)) ?? walk.context.source.sizeBytes;
  walk.visitor.gap({ ...gap, end });
  return end;
}

/** The next place with a chunk of which at least the beginning makes sense, or with another bag. */
async function findNext(from: number, walk: Walk): Promise<number | undefined> {
  for await (const offset of findBagChunks(from, walk)) {
    const record = await readChunkAt(offset, walk);
    if (!record) return offset;
    if (await beginningOf(toChunk(record), walk.context.source.sizeBytes, walk)) return offset;
  }
  return undefined;
}

function unfinished(offset: number): Reason {
  return { code: "ActiveBag", text: `the chunk at byte ${offset} was never closed by its recorder` };
}

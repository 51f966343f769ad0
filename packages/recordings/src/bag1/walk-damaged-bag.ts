import { isOneSummedFrame } from "../codecs/lz4-frames.ts";
import { DefinedTwiceError, type Reason, RecordingError } from "../faults/reasons.ts";
import { type Beginning, findBeginning } from "../reading/begun-chunk.ts";
import { type BoundedJudging, boundJudging } from "../reading/bound-judging.ts";
import { type ChunkHeader, placeOf } from "../reading/chunk.ts";
import { hasChannel, type Survey } from "../survey/survey.ts";
import { WHOLE_CHUNK_BYTES } from "../verified/verified-run.ts";
import { findBagChunks, isChunk, nameCompression, readChunkAt } from "./find-bag-chunk.ts";
import { addSpare, findIndexed, type SpareConnections, searchConnections } from "./index-connections.ts";
import {
  type BagRecord,
  isBagStart,
  type RecordReading,
  readData,
  readRecord,
  readRecordHead,
  requireEntries,
} from "./record-frame.ts";
import { magic, opcodeOf, opcodes, readConnection } from "./records.ts";
import { seeBagRecords } from "./see-bag-record.ts";
import { addConnection, toChunk } from "./to-survey.ts";

/** The caller's part of a walk: it says what becomes of each part of a bag that is not whole. */
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

interface Walk extends DamagedBagWalk {
  readonly bounded: BoundedJudging;
  readonly spare: SpareConnections;
  /** Whether the connections in the index were looked for. That costs reading, so that it is done once and only behind damage. */
  isIndexRead: boolean;
}

/**
 * Walks a bag whatever is wrong with it, from its first record on: a chunk in progress is read as far as it makes sense, and behind a place
 * that makes no sense the next chunk is looked for. Answers where the bag ends because another one begins, or where the file ends.
 */
export async function walkDamagedBag(given: DamagedBagWalk): Promise<number> {
  const walk = { ...given, bounded: boundJudging(given.context), spare: new Map(), isIndexRead: false };
  const end = await walkRecords(walk);
  addSpare(walk.spare, walk.survey, walk.context);
  return end;
}

async function walkRecords(walk: Walk): Promise<number> {
  const { sizeBytes } = walk.context.source;
  let offset: number = (await isBagStart(0, walk)) ? magic.byteLength : 0;
  while (offset < sizeBytes) {
    if (offset > 0 && (await isBagStart(offset, walk))) return offset;
    try {
      offset = await visitRecord(offset, walk);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      if (error instanceof DefinedTwiceError && (await beginsOther(offset, walk))) return offset;
      offset = await goOn(offset, error.reason, walk);
    }
  }
  return sizeBytes;
}

/** Connections are numbered from 0 in each bag: a whole chunk that gives known numbers to others is of a bag whose own magic is lost. */
async function beginsOther(offset: number, walk: Walk): Promise<boolean> {
  const record = offset > 0 ? await readChunkAt(offset, walk) : undefined;
  return record !== undefined && record.end <= walk.context.source.sizeBytes && (await mayBeRead(record, walk));
}

/** Answers where the next record begins. */
async function visitRecord(offset: number, walk: Walk): Promise<number> {
  const { survey, context, reader, visitor } = walk;
  const record = await readRecord(offset, walk);
  if (isChunk(record.header)) {
    const chunk = toChunk((await nameCompression(record, walk)) ?? record);
    return isOpen(chunk) ? visitOpen(chunk, record, walk) : visitor.chunk(chunk, record.end);
  }
  const opcode = opcodeOf(record.header);
  if (opcode === opcodes.connection)
    addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
  if (opcode === opcodes.message) return visitLoose(offset, walk);
  return passRecord(record, walk);
}

/**
 * Passes a record that holds no messages. If its length is damaged, or bytes of it are missing, it covers chunks: it goes on at the first of
 * them. In the bag header, which is large and blank, that is always looked for.
 */
async function passRecord(record: BagRecord, walk: Walk): Promise<number> {
  const { offset, dataOffset, end } = record;
  requireEntries(record);
  const isHeader = opcodeOf(record.header) === opcodes.bagHeader;
  if (end === walk.context.source.sizeBytes || (!isHeader && (await startsRecord(end, walk)))) return end;
  const covered = await findNext({ from: dataOffset, to: end }, walk);
  if (covered === undefined || covered >= end) return end;
  const text = `the record at byte ${offset} covers others; the file is damaged there`;
  return visitGap({ offset, from: dataOffset, reason: { code: walk.code, text } }, walk);
}

/** rosbag writes the sizes of a chunk when it closes it, and 0 before. */
function isOpen({ storedBytes, uncompressedBytes }: ChunkHeader): boolean {
  return storedBytes === 0 && uncompressedBytes === 0;
}

/** The records of an open chunk that is not compressed stand behind it as records that look like any other. */
function visitOpen(chunk: ChunkHeader, record: BagRecord, walk: Walk): Promise<number> | number {
  if (chunk.compression === "none") return record.end;
  return visitBegun(chunk, { reason: unfinished(chunk.offset), from: record.end }, walk);
}

/** Messages outside of chunks are what a chunk holds that was never closed. */
async function visitLoose(offset: number, walk: Walk): Promise<number> {
  const sizes = { storedBytes: 0, uncompressedBytes: 0, crc: 0 };
  const chunk = { offset, dataOffset: offset, compression: "none", ...sizes };
  return visitBegun(chunk, { reason: unfinished(offset), from: offset + 1 }, walk);
}

async function readIndex(walk: Walk): Promise<void> {
  if (!walk.isIndexRead) await findIndexed(walk.spare, walk);
  walk.isIndexRead = true;
}

/** Answers where to go on behind a record that makes no sense. */
async function goOn(offset: number, reason: Reason, walk: Walk): Promise<number> {
  await readIndex(walk);
  const record = await readChunkAt(offset, walk);
  if (!record) return visitGap({ offset, from: offset + 1, reason }, walk);
  const chunk = toChunk(record);
  if (!(await endsTruly(record, walk))) return visitBegun(chunk, { reason, from: offset + 1 }, walk);
  const isRefuted = await isRefutedFrame(chunk, walk);
  const beginning = isRefuted ? undefined : await beginningOf(chunk, record.end, walk);
  const isTaken = beginning !== undefined && (await take(beginning, walk));
  await searchConnections({ from: isTaken ? beginning.lastStart : offset, to: record.end }, walk.spare, walk);
  if (!isTaken) await walk.visitor.lost({ chunk, end: record.end, reason });
  else walk.visitor.gap({ offset: beginning.end, end: record.end, reason, begun: beginning });
  return record.end;
}

/**
 * Whether the file ends with a chunk, or what comes behind a chunk stands where it is said to end. A message or a connection shows nothing: if
 * bytes of the chunk are missing, those of the next one may stand there.
 */
async function endsTruly({ end }: BagRecord, walk: Walk): Promise<boolean> {
  const { sizeBytes } = walk.context.source;
  if (end >= sizeBytes) return end === sizeBytes;
  try {
    return standsBehindChunk.has(opcodeOf((await readRecordHead(end, walk)).header));
  } catch (error) {
    if (error instanceof RecordingError) return isBagStart(end, walk);
    throw error;
  }
}

const standsBehindChunk: ReadonlySet<number> = new Set([opcodes.chunk, opcodes.indexData, opcodes.chunkInfo]);

/**
 * Reads the beginning of a chunk whose end nothing says, and goes on at the next chunk. That may begin inside the last record that seems to be
 * of this one. If nothing can be read of the chunk, the next one is looked for `from` a place on.
 */
async function visitBegun(
  chunk: ChunkHeader,
  { reason, from }: { reason: Reason; from: number },
  walk: Walk,
): Promise<number> {
  const { sizeBytes } = walk.context.source;
  const { offset } = chunk;
  await readIndex(walk);
  const longest = await beginningOf(chunk, sizeBytes, walk);
  if (!longest) return visitGap({ offset, from, reason }, walk);
  // Its own compressed data begin as those do whose head is lost.
  const next = await findNext({ from: Math.max(longest.lastStart, from, chunk.dataOffset + 1) }, walk);
  const isCovered = next !== undefined && next < longest.end;
  const beginning = isCovered ? await beginningOf(chunk, next, walk) : longest;
  if (!beginning || !(await take(beginning, walk))) return visitGap({ offset, from, reason }, walk);
  const gap = { offset: beginning.end, end: next ?? sizeBytes, reason, begun: beginning };
  await searchConnections({ from: beginning.lastStart, to: gap.end }, walk.spare, walk);
  walk.visitor.gap(gap);
  return gap.end;
}

/**
 * Whether a chunk that cannot be read is one whole frame with a checksum that refutes it: then it refutes its beginning, too. Else only the
 * size is wrong that the head of the chunk gives.
 */
async function isRefutedFrame(chunk: ChunkHeader, walk: Walk): Promise<boolean> {
  const { compression, dataOffset, storedBytes } = chunk;
  if (compression !== "lz4" || storedBytes > WHOLE_CHUNK_BYTES) return false;
  const bytes = await walk.context.source.read(dataOffset, storedBytes);
  if (!isOneSummedFrame(bytes)) return false;
  const sense = await findSense(chunk, walk, { limit: dataOffset + storedBytes, isKnown: () => true });
  if (!sense) return true;
  const { uncompressedBytes } = sense.chunk;
  try {
    await walk.context.decompress.whole({ compression, bytes, uncompressedBytes, place: placeOf(chunk) });
    return false;
  } catch (error) {
    if (error instanceof RecordingError) return true;
    throw error;
  }
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
  const { survey, spare } = walk;
  return findSense(chunk, walk, {
    limit,
    isKnown: (channelId) => hasChannel(survey, channelId) || spare.has(channelId),
  });
}

interface Sense {
  readonly limit: number;
  readonly isKnown: (channelId: number) => boolean;
}

async function findSense(chunk: ChunkHeader, walk: Walk, { limit, isKnown }: Sense): Promise<Beginning | undefined> {
  const { survey, bounded } = walk;
  const { context } = bounded;
  if (bounded.isExhausted()) return undefined;
  const see = seeBagRecords(isKnown, context.limits.maxRecordBytes);
  return findBeginning(chunk, { context, see, limit, magic, span: { startNs: survey.startNs, endNs: survey.endNs } });
}

/** Whether a chunk makes sense up to its end, whatever its messages are of, or is begun by messages of known connections. */
async function mayBeRead(record: BagRecord, walk: Walk): Promise<boolean> {
  const { sizeBytes } = walk.context.source;
  const chunk = toChunk(record);
  const isHeadless = record.end === record.dataOffset;
  const limit = isHeadless ? sizeBytes : Math.min(record.end, sizeBytes);
  const sense = await findSense(chunk, walk, { limit, isKnown: () => true });
  if (!sense) return false;
  if (sense.chunk.uncompressedBytes === chunk.uncompressedBytes || chunk.compression === "bz2") return true;
  return (await beginningOf(chunk, sizeBytes, walk)) !== undefined;
}

/** Answers false if it contradicts what is known of the bag. */
async function take(beginning: Beginning, { visitor }: Walk): Promise<boolean> {
  try {
    await visitor.begun(beginning.chunk);
    return true;
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

async function visitGap(
  { from, ...gap }: { offset: number; from: number; reason: Reason },
  walk: Walk,
): Promise<number> {
  const end = (await findNext({ from }, walk)) ?? walk.context.source.sizeBytes;
  await searchConnections({ from: gap.offset, to: end }, walk.spare, walk);
  walk.visitor.gap({ ...gap, end });
  return end;
}

/** The next place with a chunk of which at least the beginning makes sense, or with another bag. */
async function findNext({ from, to }: { from: number; to?: number }, walk: Walk): Promise<number | undefined> {
  for await (const offset of findBagChunks(from, walk, to)) {
    const record = await readChunkAt(offset, walk);
    if (!record || (await mayBeRead(record, walk))) return offset;
  }
  return undefined;
}

function unfinished(offset: number): Reason {
  return { code: "ActiveBag", text: `the chunk at byte ${offset} was never closed by its recorder` };
}

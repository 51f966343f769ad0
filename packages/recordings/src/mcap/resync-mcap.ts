import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { boundJudging } from "../reading/bound-judging.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { createSurvey } from "../survey/survey.ts";
import { addRepeatedChannels } from "./index-mcap.ts";
import { type DamagedReading, type JudgedChunk, judgeChunk, parseChunkAt, readChunkAt } from "./judge-chunk.ts";
import { hasFileStart, readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, LEAST_CHUNK_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import type { ChunkIndex } from "./records.ts";
import { readSummarySection, type SummarySection } from "./summary-section.ts";
import type { McapChunk } from "./walk-mcap.ts";

/** Where something makes sense again. */
export type Resumed = { readonly offset: number } & (JudgedChunk | { readonly kind: "file" });

/** Goes on behind places that make no sense, in one file. */
export interface Resync {
  /**
   * Answers what can be had of the chunk at a place whose record makes no sense, or undefined. Damage costs time here, so that what the
   * file introduces elsewhere is looked for only now.
   */
  judge(offset: number): Promise<JudgedChunk | undefined>;
  /**
   * Finds the next chunk from a place on that can be read, at least in its beginning: one that the summary names, or that looks like one.
   * It answers also where another file begins, and undefined if there is neither.
   */
  find(from: number): Promise<Resumed | undefined>;
}

export function createResync(reading: DamagedReading): Resync {
  const { sizeBytes } = reading.context.source;
  let section: SummarySection | undefined;
  const bounded = boundJudging(reading.context);
  const judging = { ...reading, context: bounded.context };
  const judge = async (chunk: McapChunk): Promise<JudgedChunk | undefined> =>
    bounded.isExhausted() ? undefined : judgeChunk(chunk, judging);
  const prepare = async (): Promise<SummarySection> => {
    section ??= await introduceRepeated(reading);
    return section;
  };
  return {
    async judge(offset) {
      await prepare();
      const chunk = await readChunkAt(offset, reading);
      return chunk && judge(chunk);
    },
    async find(from) {
      const searching = { reading, judge };
      let searchedTo = from;
      for (const { offset, lengthBytes } of indexedChunks(await prepare(), { from, to: sizeBytes })) {
        const unnamed = await search({ from: searchedTo, to: offset }, searching);
        if (unnamed) return unnamed;
        const chunk = offset >= from ? await readChunkAt(offset, reading) : undefined;
        const judged = chunk && (await judge(chunk));
        if (judged) return { offset, ...judged };
        searchedTo = Math.max(searchedTo, offset + lengthBytes);
      }
      return search({ from: searchedTo, to: sizeBytes }, searching);
    },
  };
}

/** Whether a chunk that can be read, at least in its beginning, stands in the first megabyte. */
export async function holdsMcapChunk(context: ReadContext): Promise<boolean> {
  const reading = { context, reader: openWindowReader(context), survey: createSurvey() };
  await introduceRepeated(reading);
  const to = Math.min(PIECE_BYTES, context.source.sizeBytes);
  return (await search({ from: 0, to }, { reading, judge: (chunk) => judgeChunk(chunk, reading) })) !== undefined;
}

interface Searching {
  readonly reading: DamagedReading;
  readonly judge: (chunk: McapChunk) => Promise<JudgedChunk | undefined>;
}

async function search(
  { from, to }: { from: number; to: number },
  { reading, judge }: Searching,
): Promise<Resumed | undefined> {
  for await (const place of lookalikes(reading, { from, to })) {
    if (place.chunk === undefined) return { kind: "file", offset: place.offset };
    const judged = await judge(place.chunk);
    if (judged) return { offset: place.offset, ...judged };
  }
  return undefined;
}

/**
 * Adds the schemas and channels that the summary repeats and that are not known: those that damage took out of the data. Answers what the
 * summary holds; nothing if it cannot be read.
 */
async function introduceRepeated({ context, survey }: DamagedReading): Promise<SummarySection> {
  const section: SummarySection = { schemas: [], channels: [], attachments: [], metadata: [] };
  try {
    const end = await readMcapEnd(context.source, FOOTER_BYTES + magic.byteLength);
    Object.assign(section, await readSummarySection(end, context, { wantsChunks: true }));
    const schemas = section.schemas.filter(({ id }) => !survey.schemas.has(id));
    const channels = section.channels.filter(({ id }) => !survey.channels.has(id));
    addRepeatedChannels(survey, { ...section, schemas, channels }, context.limits);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
  return section;
}

/**
 * The nearest chunks in the file that the summary names, in the order of the file. What stands in them is not searched, because a message
 * may hold what looks like a chunk.
 */
function indexedChunks({ chunks }: SummarySection, { from, to }: { from: number; to: number }): ChunkIndex[] {
  const nearest: ChunkIndex[] = [];
  for (const index of chunks?.inOrder() ?? []) {
    if (index.offset >= to) break;
    if (index.offset + index.lengthBytes > from) nearest.push(index);
    if (nearest.length === MOST_INDEXED) break;
  }
  return nearest;
}

const MOST_INDEXED = 16;

/** The places where a chunk's head may stand, and those where another file begins, which have no chunk. */
async function* lookalikes(
  { context, reader }: DamagedReading,
  { from, to }: { from: number; to: number },
): AsyncGenerator<{ offset: number; chunk?: McapChunk }> {
  const { sizeBytes } = context.source;
  for (let at = from; at < to; at += PIECE_BYTES) {
    const bytes = await reader.fetch(at, Math.min(PIECE_BYTES + OVERLAP_BYTES, sizeBytes - at));
    const places = placesIn(bytes, { at, sizeBytes, count: Math.min(PIECE_BYTES, to - at) });
    yield* places;
  }
}

/** The places are listed at once, because bytes that were fetched are valid only until the next are. */
function placesIn(
  bytes: Uint8Array,
  { at, sizeBytes, count }: { at: number; sizeBytes: number; count: number },
): { offset: number; chunk?: McapChunk }[] {
  const piece = asBuffer(bytes);
  const places: { offset: number; chunk?: McapChunk }[] = [];
  for (
    let found = piece.indexOf(opcodes.chunk);
    found >= 0 && found < count;
    found = piece.indexOf(opcodes.chunk, found + 1)
  ) {
    if (found + LEAST_CHUNK_BYTES > piece.byteLength) break;
    const chunk = parseChunkAt(piece.subarray(found, found + OVERLAP_BYTES), at + found);
    if (chunk && mayBeChunk(chunk, piece.readBigUInt64LE(found + 1), sizeBytes))
      places.push({ offset: at + found, chunk });
  }
  for (let found = piece.indexOf(magicBytes); found >= 0 && found < count; found = piece.indexOf(magicBytes, found + 1))
    if (hasFileStart(piece, found)) places.push({ offset: at + found });
  return places.sort((a, b) => a.offset - b.offset);
}

/** The length of the record may be damaged; its own sizes must then be those of a chunk that fits, or not be written yet. */
function mayBeChunk(chunk: McapChunk, contentBytes: bigint, sizeBytes: number): boolean {
  const { offset, storedBytes, uncompressedBytes, dataOffset, compression } = chunk;
  if (storedBytes === 0 || uncompressedBytes === 0) return false;
  const isFramed = Number(contentBytes) + offset + RECORD_HEAD_BYTES <= sizeBytes;
  const fits = dataOffset + storedBytes <= sizeBytes;
  const areEqual = compression !== "" || storedBytes === uncompressedBytes;
  return areEqual && (isFramed || fits || contentBytes === UNWRITTEN || Number(contentBytes) >= storedBytes);
}

/** Recorders write so before they know a length. */
const UNWRITTEN = 2n ** 64n - 1n;

const magicBytes = Buffer.from(magic);
/** A chunk's head, or a magic with the head of a header. */
const OVERLAP_BYTES = 64;
const PIECE_BYTES = 1024 * 1024;

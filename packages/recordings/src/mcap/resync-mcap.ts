import { isPlain } from "../codecs/decompress.ts";
import { RecordingError } from "../faults/reasons.ts";
import { firstFrom } from "../memory/sorted-places.ts";
import { boundJudging } from "../reading/bound-judging.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { createSurvey } from "../survey/survey.ts";
import { trusts } from "../survey/trust.ts";
import { findDefinitions, type Unread } from "./find-definitions.ts";
import { addRepeatedChannels } from "./index-mcap.ts";
import {
  type BegunChunk,
  type DamagedReading,
  findSense,
  type JudgedChunk,
  judgeChunk,
  readChunkAt,
} from "./judge-chunk.ts";
import { lookalikes, PIECE_BYTES } from "./lookalikes.ts";
import { isLoose, type LoosePlace } from "./loose-places.ts";
import { readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, magic } from "./opcodes.ts";
import { endOfFramed, isBoundary } from "./record-head.ts";
import { readSummarySection, type SummarySection } from "./summary-section.ts";
import type { McapChunk } from "./walk-mcap.ts";

/** Where something makes sense again: a chunk, another file, or records outside of chunks. */
export type Resumed = { readonly offset: number } & (
  | JudgedChunk
  | { readonly kind: "file" }
  | { readonly kind: "loose" }
);

/** Goes on behind places that make no sense, in one file. */
export interface Resync {
  /** Introduces what the summary repeats, if it can be read. */
  prepare(): Promise<unknown>;
  /** Answers what can be had of the chunk at a place whose record makes no sense, or undefined. */
  judge(offset: number): Promise<JudgedChunk | undefined>;
  /**
   * Answers what can be had of the beginning of a chunk that something else stands in at `end`. A chunk that its checksum refutes gives
   * nothing.
   */
  shorten(chunk: McapChunk, end: number): Promise<BegunChunk | undefined>;
  /** Answers where the last record begins of a chunk that was read and ends there: if bytes of the chunk are missing, it covers another one. */
  lastRecordOf(chunk: McapChunk, end: number): Promise<number>;
  /** Introduces the channels that stand in what cannot be read as a whole. */
  define(unread: Unread, end: number): Promise<void>;
  /**
   * Finds the next chunk from a place on that can be read, at least in its beginning: one that the summary names, or that looks like one.
   * It answers also where another file begins, and, from `looseFrom` on, where records outside of chunks go on. It answers undefined if none
   * of them begins before `to`, by default the end of the file.
   */
  find(from: number, place: { readonly to?: number; readonly looseFrom: number }): Promise<Resumed | undefined>;
}

export function createResync(reading: DamagedReading): Resync {
  const { sizeBytes } = reading.context.source;
  let named: NamedChunks | undefined;
  const judging = createJudging(reading);
  const prepare = async (): Promise<NamedChunks> => {
    named ??= toNamedChunks(await introduceRepeated(reading));
    return named;
  };
  return {
    prepare,
    async judge(offset) {
      const chunk = await readChunkAt(offset, reading);
      return chunk && judging.judge(chunk);
    },
    async shorten(chunk, end) {
      const judged = chunk.crc === 0 ? await judgeChunk(chunk, reading, end) : undefined;
      return judged?.kind === "begun" ? judged : undefined;
    },
    async lastRecordOf(chunk, end) {
      const beginning = await findSense(chunk, reading, { limit: end, isKnown: () => true });
      return beginning?.lastStart ?? chunk.dataOffset;
    },
    define: (unread, end) => findDefinitions(unread, end, reading),
    async find(from, { to = sizeBytes, looseFrom }) {
      const searching = { ...judging, reading, looseFrom };
      let searchedTo = from;
      for (const place of nearestChunks(await prepare(), { from, to })) {
        const found = await searchNamed(place, searchedTo, searching);
        if (typeof found !== "number") return found;
        searchedTo = found;
      }
      return search({ from: searchedTo, to }, searching);
    },
  };
}

/** Searches up to a chunk that the summary names, and looks at that one. Answers up to where nothing was found. */
async function searchNamed(
  { offset, end }: { offset: number; end: number },
  from: number,
  searching: Searching,
): Promise<Resumed | number> {
  const { reading, judge } = searching;
  const unnamed = await search({ from, to: offset }, searching);
  if (unnamed) return unnamed;
  const chunk = offset >= from ? await readChunkAt(offset, reading) : undefined;
  const judged = chunk && (await judge(chunk));
  if (judged) return { offset, ...judged };
  // If bytes are missing or moved, the places are wrong that the summary names.
  const searchedTo = Math.max(from, offset);
  const recordEnd = chunk ? chunk.dataOffset + chunk.storedBytes : end;
  if (end <= searchedTo || !(await isBoundary(recordEnd, reading.context))) return searchedTo;
  // Blocks that were moved may stand where the head of a chunk is lost.
  const moved = chunk ? undefined : await search({ from: searchedTo, to: end }, { ...searching, looseFrom: end });
  return moved ?? end;
}

interface Judging {
  judge(chunk: McapChunk): Promise<JudgedChunk | undefined>;
  isLoose(place: LoosePlace): Promise<boolean>;
}

/**
 * The bytes that are read to judge places are bounded. A record in a chunk that its checksum refutes is not taken for records outside of
 * chunks. Nor is anything in a file with compressed chunks: what is left of one may hold records as they were, with parts that only look
 * like their data.
 */
function createJudging(reading: DamagedReading): Judging {
  const { sizeBytes } = reading.context.source;
  const bounded = boundJudging(reading.context);
  const boundedReading = { ...reading, context: bounded.context };
  let refutedEnd = 0;
  let isCompressed: boolean | undefined;
  return {
    async judge(chunk) {
      if (bounded.isExhausted()) return undefined;
      const judged = await judgeChunk(chunk, boundedReading, await limitOf(chunk, bounded.context));
      const end = chunk.dataOffset + chunk.storedBytes;
      if (!judged && chunk.crc !== 0 && end <= sizeBytes) refutedEnd = Math.max(refutedEnd, end);
      return judged;
    },
    async isLoose(place) {
      if (isCompressed || place.offset < refutedEnd || bounded.isExhausted()) return false;
      if (!(await isLoose(place, boundedReading))) return false;
      isCompressed ??= await holdsCompressedChunk(bounded.context);
      return !isCompressed;
    },
  };
}

/**
 * Where a chunk ends at the latest: if its content seems to reach beyond its record, and another record stands where that ends, the length of
 * the record is true and the size of the content is not.
 */
async function limitOf({ offset, dataOffset, storedBytes }: McapChunk, context: ReadContext): Promise<number> {
  const framedEnd = await endOfFramed(offset, context);
  const isFramed = framedEnd !== undefined && framedEnd > dataOffset && framedEnd < dataOffset + storedBytes;
  return isFramed ? framedEnd : context.source.sizeBytes;
}

/** Whether a chunk that can be read, at least in its beginning, stands in the first megabyte. */
export async function holdsMcapChunk(context: ReadContext): Promise<boolean> {
  const reading = { context, reader: openWindowReader(context), survey: createSurvey() };
  await introduceRepeated(reading);
  const to = Math.min(PIECE_BYTES, context.source.sizeBytes);
  const judge = (chunk: McapChunk) => judgeChunk(chunk, reading);
  const searching = { reading, judge, isLoose: async () => false, looseFrom: 0 };
  return (await search({ from: 0, to }, searching)) !== undefined;
}

/** Whether what looks like the head of a compressed chunk stands in the first part of the file. */
async function holdsCompressedChunk(shared: ReadContext): Promise<boolean> {
  const context = { ...shared };
  const reading = { context, reader: openWindowReader(context), survey: createSurvey() };
  const to = Math.min(MOST_SEEN_BYTES, context.source.sizeBytes);
  for await (const { chunk } of lookalikes(reading, { from: 0, to }))
    if (chunk && !isPlain(chunk.compression)) return true;
  return false;
}

const MOST_SEEN_BYTES = 64 * 1024 * 1024;

interface Searching extends Judging {
  readonly reading: DamagedReading;
  /** Before this place no records are looked for that stand outside of chunks. */
  readonly looseFrom: number;
}

async function search(
  { from, to }: { from: number; to: number },
  { reading, judge, isLoose, looseFrom }: Searching,
): Promise<Resumed | undefined> {
  for await (const { offset, chunk, loose } of lookalikes(reading, { from, to })) {
    if (chunk) {
      const judged = await judge(chunk);
      if (judged) return { offset, ...judged };
    } else if (!loose) return { kind: "file", offset };
    else if (offset >= looseFrom && (await isLoose(loose))) return { kind: "loose", offset };
  }
  return undefined;
}

/**
 * Adds the schemas and channels that the summary repeats. If it has no checksum it may be damaged itself: what the data say counts instead.
 * Answers what the summary holds; nothing if it cannot be read.
 */
async function introduceRepeated({ context, survey }: DamagedReading): Promise<SummarySection> {
  const section: SummarySection = { schemas: [], channels: [], attachments: [], metadata: [] };
  try {
    const end = await readMcapEnd(context.source, FOOTER_BYTES + magic.byteLength);
    Object.assign(section, await readSummarySection(end, context, { wantsChunks: true }));
    survey.trust = section.isProven ? trusts.proven : trusts.repeated;
    addRepeatedChannels(survey, section, context.limits);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
  return section;
}

/** The places of the chunks that the summary names, in the order of the file. */
interface NamedChunks {
  readonly offsets: Float64Array;
  readonly ends: Float64Array;
}

function toNamedChunks({ chunks }: SummarySection): NamedChunks {
  const [offsets, ends] = [new Float64Array(chunks?.length ?? 0), new Float64Array(chunks?.length ?? 0)];
  let row = 0;
  for (const { offset, lengthBytes } of chunks?.inOrder() ?? []) {
    offsets[row] = offset;
    ends[row] = offset + lengthBytes;
    row += 1;
  }
  return { offsets, ends };
}

/**
 * The nearest chunks that the summary names, in the order of the file. Their inside is not searched, because a message may hold what
 * looks like a chunk.
 */
function nearestChunks({ offsets, ends }: NamedChunks, { from, to }: { from: number; to: number }) {
  let row = firstFrom(offsets, from);
  if (row > 0 && ends[row - 1]! > from) row -= 1;
  const nearest: { offset: number; end: number }[] = [];
  for (; row < offsets.length && offsets[row]! < to && nearest.length < MOST_NAMED; row += 1)
    nearest.push({ offset: offsets[row]!, end: ends[row]! });
  return nearest;
}

const MOST_NAMED = 16;

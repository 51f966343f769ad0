import { type ChunkHeader, loadChunk, placeOf } from "./chunk.ts";
import { nameOf, type Place } from "./field-cursor.ts";
import type { InspectLimits } from "./limits.ts";
import type { ReadContext } from "./read-context.ts";
import { RecordingFault } from "./reasons.ts";
import { addChunk, addTally, extendSpan, type Survey, type Tally, tooManyChannels } from "./survey.ts";

export interface ChunkToTally {
  chunk: ChunkHeader;
  /** What the indexes behind the chunk say; empty when there are none. */
  indexed: ReadonlyMap<number, Tally>;
  /** The span in the chunk's own header, where the format has one. Indexes that contradict it are not believed. */
  span?: Span;
  /** Adds the channels in a decompressed chunk to the survey and reports its messages. */
  scan(bytes: Uint8Array, place: string, onMessage: (channelId: number, logTimeNs: bigint) => void): void;
}

interface Span {
  startNs?: bigint;
  endNs?: bigint;
}

/** Counts a chunk's messages: by its indexes if they suffice, otherwise by decompressing it. */
export async function tallyChunk(survey: Survey, told: ChunkToTally, context: ReadContext): Promise<void> {
  const { chunk } = told;
  addChunk(survey, chunk.uncompressedBytes, { sizeBytes: context.source.sizeBytes, limits: context.limits });
  const isToldEnough = isBelievable(told) && knowsAll(survey, told.indexed);
  const tallies = isToldEnough ? told.indexed : await scanChunk(survey, told, context);
  for (const [channelId, tally] of tallies) {
    requireChannel(survey, channelId, placeOf(chunk));
    addTally(survey, channelId, tally);
  }
}

export function requireChannel(survey: Survey, channelId: number, place: Place): void {
  if (survey.channels.has(channelId)) return;
  throw new RecordingFault("BadRecord", `${nameOf(place)} names channel ${channelId}, which is not in the file`);
}

function isBelievable({ chunk, indexed, span }: ChunkToTally): boolean {
  if (chunk.uncompressedBytes === 0) return indexed.size === 0;
  if (indexed.size === 0) return false;
  if (!span) return true;
  const { startNs, endNs } = spanOf(indexed);
  return startNs === span.startNs && endNs === span.endNs;
}

function knowsAll(survey: Survey, indexed: ReadonlyMap<number, Tally>): boolean {
  for (const channelId of indexed.keys()) if (!survey.channels.has(channelId)) return false;
  return true;
}

async function scanChunk(survey: Survey, told: ChunkToTally, context: ReadContext): Promise<Map<number, Tally>> {
  const bytes = await loadChunk(told.chunk, context);
  survey.decompressedChunkCount += 1;
  const tallies = new Map<number, Tally>();
  told.scan(bytes, placeOf(told.chunk), (channelId, logTimeNs) => {
    const tally = tallies.get(channelId) ?? { messageCount: 0 };
    if (tally.messageCount === 0) addFirst(tallies, channelId, { tally, limits: context.limits });
    tally.messageCount += 1;
    extendSpan(tally, logTimeNs, logTimeNs);
  });
  return tallies;
}

/** A bag may name a connection of its own in each of millions of records: they are refused before they are counted. */
export function addFirst<T extends Tally>(
  tallies: Map<number, T>,
  channelId: number,
  { tally, limits }: { tally: T; limits: InspectLimits },
): void {
  if (tallies.size >= limits.maxChannels) throw tooManyChannels(limits);
  tallies.set(channelId, tally);
}

function spanOf(tallies: ReadonlyMap<number, Tally>): Span {
  const span: Span = {};
  for (const { startNs, endNs } of tallies.values()) {
    if (startNs !== undefined && endNs !== undefined) extendSpan(span, startNs, endNs);
  }
  return span;
}

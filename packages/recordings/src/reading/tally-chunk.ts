import type { InspectLimits } from "../faults/limits.ts";
import { RecordingError } from "../faults/reasons.ts";
import {
  addChunk,
  addSpan,
  addTally,
  extendSpan,
  hasChannel,
  type Survey,
  type Tally,
  tooManyChannels,
} from "../survey/survey.ts";
import { type ChunkHeader, placeOf, streamChunk } from "./chunk.ts";
import { nameOf, type Place } from "./field-cursor.ts";
import type { ReadContext } from "./read-context.ts";

export interface ChunkToTally {
  readonly chunk: ChunkHeader;
  /** The statements of the indexes behind the chunk. It is empty if there are none. */
  readonly indexed: ReadonlyMap<number, Tally>;
  /** The span in the chunk's own header, if the format has one. Indexes that contradict it are not believed. */
  readonly span?: Span;
  /** Adds the channels in a chunk's records, which come in pieces, to the survey and sums up its messages by channel. */
  scan(pieces: AsyncIterable<Uint8Array>, chunk: ChunkHeader): Promise<ReadonlyMap<number, Tally>>;
  /** Takes the messages of a channel that nothing has introduced yet. By default such a chunk is refused. */
  readonly onUnknown?: OnUnknown | undefined;
}

export type OnUnknown = (channelId: number, tally: Tally) => void;

interface Span {
  readonly startNs?: bigint;
  readonly endNs?: bigint;
}

/** Counts a chunk's messages by its indexes if they suffice, otherwise by decompressing it. */
export async function tallyChunk(survey: Survey, toTally: ChunkToTally, context: ReadContext): Promise<void> {
  const { chunk, onUnknown } = toTally;
  addChunk(survey, chunk.uncompressedBytes, { sizeBytes: context.source.sizeBytes, limits: context.limits });
  const indexesSuffice = isBelievable(toTally) && knowsAll(survey, toTally.indexed);
  const tallies = indexesSuffice ? toTally.indexed : await scanChunk(survey, toTally, context);
  for (const [channelId, tally] of tallies) {
    if (onUnknown && !hasChannel(survey, channelId)) onUnknown(channelId, tally);
    else {
      requireChannel(survey, channelId, placeOf(chunk));
      addTally(survey, channelId, tally);
    }
  }
}

export function requireChannel(survey: Survey, channelId: number, place: Place): void {
  if (hasChannel(survey, channelId)) return;
  throw new RecordingError("BadRecord", `${nameOf(place)} names channel ${channelId}, which is not in the file`);
}

/** A frame of nothing is not larger. */
const EMPTY_FRAME_BYTES = 32;

function isBelievable({ chunk, indexed, span }: ChunkToTally): boolean {
  if (chunk.uncompressedBytes === 0) return indexed.size === 0 && chunk.storedBytes <= EMPTY_FRAME_BYTES;
  if (indexed.size === 0) return false;
  if (!span) return true;
  const { startNs, endNs } = spanOf(indexed);
  return startNs === span.startNs && endNs === span.endNs;
}

function knowsAll(survey: Survey, indexed: ReadonlyMap<number, Tally>): boolean {
  for (const channelId of indexed.keys()) if (!hasChannel(survey, channelId)) return false;
  return true;
}

async function scanChunk(
  survey: Survey,
  toTally: ChunkToTally,
  context: ReadContext,
): Promise<ReadonlyMap<number, Tally>> {
  const { chunk } = toTally;
  context.signal?.throwIfAborted();
  if (isTooMuchToScan(survey, chunk, context)) return leaveOutChunk(survey, toTally.span);
  try {
    const tallies = await toTally.scan(streamChunk(chunk, context), chunk);
    survey.decompressedChunkCount += 1;
    return tallies;
  } catch (error) {
    if (!isLeftOut(error, context.limits)) throw error;
    return leaveOutChunk(survey, toTally.span);
  }
}

/** Whether a chunk is left out for this reason, because that is how it is with large content. */
export function isLeftOut(error: unknown, { leavesOut }: InspectLimits): boolean {
  return leavesOut && error instanceof RecordingError && isTooLarge.has(error.reason.code);
}

const isTooLarge: ReadonlySet<string> = new Set(["ChunkTooLarge", "RecordTooLarge"]);

/** If large content is left out, so is content that takes long: forty chunks of 250 MiB may be packed into some hundred kilobytes. */
export function isTooMuchToScan(survey: Survey, chunk: ChunkHeader, { source, limits }: ReadContext): boolean {
  survey.scannedBytes += chunk.uncompressedBytes;
  return limits.leavesOut && survey.scannedBytes > SCAN_FLOOR_BYTES + SCAN_EXPANSION * source.sizeBytes;
}

const SCAN_FLOOR_BYTES = 1024 ** 3;
const SCAN_EXPANSION = 100;

/** The reason why such a chunk is left out. */
export function tooMuch(chunk: ChunkHeader): RecordingError {
  return new RecordingError("ChunkTooLarge", `${placeOf(chunk)} takes too long to be looked into`);
}

/** Believes what the chunk's head says, and counts one message, which is the least that a chunk holds. */
export function leaveOutChunk(survey: Survey, span: Span | undefined): ReadonlyMap<number, Tally> {
  survey.leftOut.chunks += 1;
  survey.leftOut.messageCount += 1;
  const { startNs, endNs } = span ?? {};
  const isTime = startNs !== undefined && endNs !== undefined && startNs <= endNs && endNs < 2n ** 63n;
  if (isTime) addSpan(survey, startNs, endNs);
  return new Map();
}

/** A bag may name a connection of its own in each of millions of records. They are refused before they are counted. */
export function addFirst<T extends Tally>(
  tallies: Map<number, T>,
  channelId: number,
  { tally, most }: { tally: T; most: number },
): void {
  if (tallies.size >= most) throw tooManyChannels(most);
  tallies.set(channelId, tally);
}

function spanOf(tallies: ReadonlyMap<number, Tally>): Span {
  const span: Span = {};
  for (const { startNs, endNs } of tallies.values()) {
    if (startNs !== undefined && endNs !== undefined) extendSpan(span, startNs, endNs);
  }
  return span;
}

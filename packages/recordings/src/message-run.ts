import { type ChunkHeader, loadChunk } from "./chunk.ts";
import type { ReadContext } from "./read-context.ts";
import { RecordingFault } from "./reasons.ts";
import type { Survey } from "./survey.ts";
import { refuseBeyond } from "./window-reader.ts";

/** Messages that lie together in a file, all within [startNs, endNs]. What an export loads at once. */
export interface MessageRun {
  /** Absent: the messages stand in the file as they are, from `offset` on. */
  chunk?: ChunkHeader;
  offset: number;
  lengthBytes: number;
  startNs: bigint;
  endNs: bigint;
  /** Present when a chunk index told of the run: the length of the chunk's record, and of the message indexes behind it. */
  indexed?: { chunkBytes: number; indexesBytes: number };
}

export interface SurveyOptions {
  /** Decompress every chunk, check every checksum, count what is there. */
  verify?: boolean;
  /** Called in file order; the survey knows the channels by then. */
  onRun?: (run: MessageRun, channelIds: Iterable<number>, survey: Survey) => void;
}

export interface RawMessage {
  channelId: number;
  sequence: number;
  logTimeNs: bigint;
  publishTimeNs: bigint;
  /** A view into the run's bytes. */
  data: Uint8Array;
}

export async function loadRun(run: MessageRun, context: ReadContext): Promise<Uint8Array> {
  if (run.chunk) return loadChunk(run.chunk, context);
  const { source, limits, signal } = context;
  signal?.throwIfAborted();
  refuseBeyond({ offset: run.offset, length: run.lengthBytes, sizeBytes: source.sizeBytes });
  if (run.lengthBytes <= limits.maxChunkBytes) return source.read(run.offset, run.lengthBytes);
  throw new RecordingFault("RecordTooLarge", `${placeOfRun(run)} is ${run.lengthBytes} bytes large`);
}

export function placeOfRun({ chunk, offset }: MessageRun): string {
  return `the ${chunk ? "chunk" : "message"} at byte ${offset}`;
}

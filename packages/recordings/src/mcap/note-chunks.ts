import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader, type WindowReader } from "../reading/window-reader.ts";
import { createSpanNotes, LEAST_GAP_NS, type MessageSpan, noteTally, type SpanNotes } from "../survey/message-spans.ts";
import type { ChunkIndex } from "./records.ts";
import { readIndexes } from "./walk-mcap.ts";

/** The message indexes of one recording that are read for its spans have at most so many bytes. */
const MOST_INDEX_BYTES = 512 * 1024;

/**
 * Notes when the messages of chunks are. A chunk of more than an hour may hold the moment at which a clock jumped: its message indexes say
 * it, of the first chunks as many as are read.
 */
export async function noteChunks(notes: SpanNotes, chunks: Iterable<ChunkIndex>, context: ReadContext): Promise<void> {
  const reader = openWindowReader(context);
  let leftBytes = MOST_INDEX_BYTES;
  for (const chunk of chunks) {
    const isLong = chunk.endNs - chunk.startNs > LEAST_GAP_NS;
    if (isLong) leftBytes -= chunk.lengthBytes - chunk.chunkBytes;
    const parts = isLong && leftBytes >= 0 ? await readParts(chunk, reader, context) : [chunk];
    for (const { startNs, endNs } of parts) notes.note(startNs, endNs);
  }
}

/** Indexes that contradict the chunk's own times are not believed. */
async function readParts(
  chunk: ChunkIndex,
  reader: WindowReader,
  context: ReadContext,
): Promise<readonly MessageSpan[]> {
  const { indexed } = await readIndexes(chunk.offset + chunk.chunkBytes, reader, context);
  const notes = createSpanNotes();
  for (const tally of indexed.values()) noteTally(notes, tally);
  const parts = notes.toSpans();
  const isAll = parts[0]?.startNs === chunk.startNs && parts.at(-1)?.endNs === chunk.endNs;
  return isAll ? parts : [chunk];
}

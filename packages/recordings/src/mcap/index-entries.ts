import { openCursor, readTime } from "../reading/field-cursor.ts";
import { LEAST_GAP_NS, type SpanNotes } from "../survey/message-spans.ts";
import { extendSpan, type Tally } from "../survey/survey.ts";

export const INDEX_ENTRY_BYTES = 16;

interface IndexPiece {
  readonly bytes: Uint8Array;
  /** Where the index stands in the file. */
  readonly offset: number;
}

/** Adds whole entries of a message index. `parts` takes the times of all channels of the chunk that have messages over a long time. */
export function tallyEntries({ bytes, offset }: IndexPiece, tally: Tally, parts: SpanNotes): void {
  const cursor = openCursor(bytes, `the message index at byte ${offset}`);
  let startNs = readTime(cursor);
  let endNs = startNs;
  for (cursor.position = 0; cursor.position < bytes.byteLength; cursor.position += 8) {
    const timeNs = readTime(cursor);
    if (timeNs < startNs) startNs = timeNs;
    if (timeNs > endNs) endNs = timeNs;
  }
  tally.messageCount += bytes.byteLength / INDEX_ENTRY_BYTES;
  const before = { ...tally };
  extendSpan(tally, startNs, endNs);
  if (tally.endNs! - tally.startNs! <= LEAST_GAP_NS) return;
  if (!before.parts && before.startNs !== undefined) parts.note(before.startNs, before.endNs!);
  tally.parts = parts;
  for (cursor.position = 0; cursor.position < bytes.byteLength; cursor.position += 8) {
    const timeNs = readTime(cursor);
    parts.note(timeNs, timeNs);
  }
}

import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import { createRecordPieces } from "../reading/record-pieces.ts";
import { extendSpan, type Tally } from "../survey/survey.ts";
import { countLost } from "./damaged-chunk.ts";
import { EMPTY_MESSAGE_BYTES, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import type { StoredChunk } from "./stored-chunk.ts";

/*
 * Garbage in a chunk without a checksum may be framed like messages, with times of any century. Such messages are kept, because nothing
 * proves that they are false; but the recording's span comes from the times that the chunk's head or its message indexes confirm.
 */

export interface DoubtedTimes {
  /** The messages whose times contradict both. */
  readonly messageCount: number;
  /** The tallies by channel. The doubted messages are counted, and left out of the spans. */
  readonly tallies: ReadonlyMap<number, Tally>;
}

interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Whether a chunk holds times that contradict its head, so that it is worth reading once more. In a sound chunk none does. */
export function mayDoubt({ chunk, indexes }: StoredChunk, { startNs, endNs }: Span): boolean {
  const isSpan = chunk.startNs <= chunk.endNs && chunk.endNs <= MAX_TIME_NS;
  return isSpan && indexes.byteLength > 0 && (startNs < chunk.startNs || endNs > chunk.endNs);
}

/** Compares each message of a chunk with its head and with the times that the indexes give its channel. */
export async function doubtTimes(stored: StoredChunk, content: AsyncIterable<Uint8Array>): Promise<DoubtedTimes> {
  const indexed = new Map(countLost(stored)?.channels.map((channel) => [channel.channelId, channel]));
  const tallies = new Map<number, Tally>();
  let messageCount = 0;
  const note = (channelId: number, timeNs: bigint): void => {
    const tally = tallies.get(channelId) ?? { messageCount: 0 };
    tallies.set(channelId, tally);
    tally.messageCount += 1;
    const own = indexed.get(channelId);
    const isConfirmed = isWithin(timeNs, stored.chunk) || own === undefined || isWithin(timeNs, own);
    if (isConfirmed && timeNs <= MAX_TIME_NS) extendSpan(tally, timeNs, timeNs);
    else if (timeNs <= MAX_TIME_NS) messageCount += 1;
  };
  const pieces = createRecordPieces((bytes, from) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = from;
    while (at + RECORD_HEAD_BYTES <= bytes.byteLength) {
      const isMessage = view.getUint8(at) === opcodes.message;
      if (isMessage && at + EMPTY_MESSAGE_BYTES > bytes.byteLength) return { at, wantedBytes: EMPTY_MESSAGE_BYTES };
      if (isMessage) note(view.getUint16(at + 9, true), view.getBigUint64(at + 15, true));
      at += RECORD_HEAD_BYTES + view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
    }
    return { at, wantedBytes: RECORD_HEAD_BYTES };
  });
  for await (const piece of content) pieces.push(piece);
  return { messageCount, tallies };
}

function isWithin(timeNs: bigint, { startNs, endNs }: Span): boolean {
  return timeNs >= startNs && timeNs <= endNs;
}

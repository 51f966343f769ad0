import { type Reason, RecordingError } from "../faults/reasons.ts";
import { openCursor, readU16, readU32, readU64 } from "../reading/field-cursor.ts";
import { extendSpan } from "../survey/survey.ts";
import type { RunChannel, VerifiedRun } from "../verified/verified-run.ts";
import { RECORD_HEAD_BYTES } from "./opcodes.ts";
import { parseRecordHead } from "./record-head.ts";
import type { StoredChunk } from "./stored-chunk.ts";

/** The statements of the message indexes about a chunk that cannot be read. */
export interface LostMessages {
  readonly messageCount: number;
  readonly channels: RunChannel[];
}

/** Answers undefined if there are no indexes, or if they make no sense. */
export function countLost({ indexes }: StoredChunk): LostMessages | undefined {
  if (indexes.byteLength === 0) return undefined;
  const channels: RunChannel[] = [];
  try {
    for (let at = 0; at < indexes.byteLength; ) {
      const { end } = parseRecordHead(indexes.subarray(at, at + RECORD_HEAD_BYTES), at, indexes.byteLength);
      const channel = readIndex(indexes.subarray(at + RECORD_HEAD_BYTES, end), at);
      if (channel.messageCount > 0) channels.push(channel);
      at = end;
    }
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
  const messageCount = channels.reduce((sum, channel) => sum + channel.messageCount, 0);
  return { messageCount, channels: channels.filter(({ endNs }) => endNs < 2n ** 63n) };
}

function readIndex(content: Uint8Array, indexStart: number): RunChannel {
  const cursor = openCursor(content, "the message index");
  const channelId = readU16(cursor);
  const messageCount = readU32(cursor) / 16;
  if (!Number.isInteger(messageCount)) throw new RecordingError("BadRecord", "the message index has a wrong length");
  const span: { startNs?: bigint; endNs?: bigint } = {};
  for (let left = messageCount; left > 0; left -= 1) {
    const timeNs = readU64(cursor);
    readU64(cursor);
    extendSpan(span, timeNs, timeNs);
  }
  const { startNs = 0n, endNs = 0n } = span;
  return { channelId, messageCount, startNs, endNs, recordsBytes: 0, lastEnd: 0, indexStart };
}

/**
 * The time of a damaged chunk is known by its indexes, else by its head. If that makes no sense either, the chunk may have been at any
 * time.
 */
export function toDamagedRun(
  { chunk, head, end }: StoredChunk,
  reason: Reason,
  lost: LostMessages | undefined,
): VerifiedRun {
  const channels = lost?.channels ?? [];
  const isTime = chunk.startNs <= chunk.endNs && chunk.endNs < 2n ** 63n;
  const span: { startNs?: bigint; endNs?: bigint } = {};
  for (const channel of channels) extendSpan(span, channel.startNs, channel.endNs);
  return {
    chunk: { ...chunk },
    offset: head.offset,
    recordBytes: head.end - head.offset,
    indexesBytes: end - head.end,
    lengthBytes: chunk.uncompressedBytes,
    largestBytes: 0,
    startNs: span.startNs ?? (isTime ? chunk.startNs : 0n),
    endNs: span.endNs ?? (isTime ? chunk.endNs : 2n ** 63n - 1n),
    checksum: 0,
    indexesChecksum: 0,
    isInOrder: false,
    hasTrueIndexes: false,
    mayPass: false,
    damage: { reason, messagesLost: lost?.messageCount },
    channels,
  };
}

import type { Reason } from "../faults/reasons.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import { extendSpan } from "../survey/survey.ts";

/** Messages that lie together in a file, as they were found by reading them: a chunk, or loose messages side by side. */
export interface VerifiedRun {
  /** Absent: the messages stand in the file as they are, from `offset` on. */
  readonly chunk?: ChunkHeader;
  readonly offset: number;
  /** Of the chunk's record with its head, or of the loose records together. */
  readonly recordBytes: number;
  /** Of the message indexes that stand directly behind a chunk. */
  readonly indexesBytes: number;
  /** Of the records, decompressed. */
  readonly lengthBytes: number;
  /** Of its largest message's record. */
  readonly largestBytes: number;
  /** First and last log time of its messages; of a damaged chunk what its indexes or its head say. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** CRC-32 of the `recordBytes`, and of the `indexesBytes` behind them. */
  readonly checksum: number;
  readonly indexesChecksum: number;
  /** Its messages stand in order of log time. */
  readonly isInOrder: boolean;
  /** The message indexes behind it name each of its messages once, and nothing else. */
  readonly hasTrueIndexes: boolean;
  /** It may stand in another file as it is, with its message indexes. */
  readonly mayPass: boolean;
  /** Its content cannot be read: it is listed so that a reader can tell what is missing. */
  readonly damage?: RunDamage;
  readonly channels: RunChannel[];
}

export interface RunDamage {
  readonly reason: Reason;
  /** By its message indexes; absent where they do not tell. */
  readonly messagesLost?: number;
}

/** The messages of one channel in a run. */
export interface RunChannel {
  readonly channelId: number;
  messageCount: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** The longest time between two that follow each other; Infinity where they are not in order of log time, absent where nobody compared. */
  maxGapNs?: number;
  /** Of their records together. */
  recordsBytes: number;
  /** Behind the last of them, counted from the beginning of the decompressed run. */
  lastEnd: number;
  /** Where the channel's message index begins, counted from the end of the chunk's record; -1: there is none. */
  readonly indexStart: number;
}

/** Exports hold such a chunk in memory as a whole; a larger one is read in pieces. */
export const wholeChunkBytes: number = 16 * 1024 * 1024;

/** Wire contract §5: of a written chunk, uncompressed; a larger message stands alone. */
export const maxWrittenChunkBytes: number = 4 * 1024 * 1024;

export function spanOfChannels(channels: readonly RunChannel[]): { startNs: bigint; endNs: bigint } {
  const span: { startNs?: bigint; endNs?: bigint } = {};
  for (const { startNs, endNs } of channels) extendSpan(span, startNs, endNs);
  return { startNs: span.startNs ?? 0n, endNs: span.endNs ?? 0n };
}

import type { Reason } from "../faults/reasons.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import { extendSpan } from "../survey/survey.ts";

/** Messages that lie together in a file, as they were found by reading them: a chunk, or loose messages side by side. */
export interface VerifiedRun {
  /** Absent if the messages stand outside of chunks, from `offset` on. */
  readonly chunk?: ChunkHeader;
  readonly offset: number;
  /** The size of the chunk's record with its head, or of the loose records together. */
  readonly recordBytes: number;
  /** The size of the message indexes that stand directly behind a chunk. */
  readonly indexesBytes: number;
  /** The size of the records, decompressed. */
  readonly lengthBytes: number;
  /** The size of its largest message's record. */
  readonly largestBytes: number;
  /** First and last log time of its messages. For a damaged chunk they are what its indexes or its head say. */
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
  /** Some of its messages have times that no recorder can have written. */
  readonly hasDoubtedTimes?: boolean;
  /** Present if its content cannot be read. Such a run is listed so that a reader can say what is missing. */
  readonly damage?: RunDamage;
  readonly channels: RunChannel[];
}

export interface RunDamage {
  readonly reason: Reason;
  /** The number by its message indexes; absent if they do not say it. */
  readonly messagesLost?: number;
}

/** The messages of one channel in a run. */
export interface RunChannel {
  readonly channelId: number;
  messageCount: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** All of them are beyond the year 2262: the times say nothing. */
  readonly isLate?: boolean;
  /**
   * The longest time between two messages that follow each other. It is Infinity if they are not in order of log time, and absent if they
   * were not compared.
   */
  maxGapNs?: number;
  /** The size of their records together. */
  recordsBytes: number;
  /** Where the last of them ends, counted from the beginning of the decompressed run. */
  lastEnd: number;
  /** Where the channel's message index begins, counted from the end of the chunk's record; -1 if there is none. */
  readonly indexStart: number;
}

/** Exports hold a chunk of at most this size in memory as a whole. A larger one is read in pieces. */
export const WHOLE_CHUNK_BYTES: number = 16 * 1024 * 1024;

/** The most that a written chunk holds, uncompressed. A larger message stands alone. spec: wire contract §5 */
export const MAX_WRITTEN_CHUNK_BYTES: number = 4 * 1024 * 1024;

export function spanOfChannels(channels: readonly RunChannel[]): { startNs: bigint; endNs: bigint } {
  const span: { startNs?: bigint; endNs?: bigint } = {};
  for (const { startNs, endNs } of channels) extendSpan(span, startNs, endNs);
  return { startNs: span.startNs ?? 0n, endNs: span.endNs ?? 0n };
}

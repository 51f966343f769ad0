import type { Compression } from "../../codecs/compress.ts";
import type { Reason } from "../../faults/reasons.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import type { RandomAccessSource } from "../../sources/source.ts";
import type { MetadataRecord } from "../../survey/summary.ts";
import type { RewritePool } from "../rewrite/rewrite-pool.ts";
import type { BagCompression } from "../write-bag/write-bag.ts";

/** A recording to export from, opened only when the stream comes near its time. */
export interface ExportSource {
  /** Its extension matters; also names the source in what is told of it. */
  readonly fileName: string;
  /** Log times within which all of its messages lie, inclusive. A wider span costs an earlier opening. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /**
   * By topic, of those with messages: a text that is the same where the topic has the same channels. For `lastPerChannel`: without it
   * every earlier source is opened, because it may have a channel of its own.
   */
  readonly topicKeys?: ReadonlyMap<string, string> | undefined;
  /** Take what is readable of a recording that is not whole. */
  readonly isSalvage?: boolean;
  /** SHA-256 of its bytes, hexadecimal: an index of another recording is refused. */
  readonly sha256?: string | undefined;
  /**
   * Called at most twice, the second time where messages before the window are wanted too; twice as often for a bag, which
   * is read once to measure it.
   */
  open(signal: AbortSignal | undefined): Promise<RandomAccessSource & AsyncDisposable>;
  /**
   * The verified index that `indexRecording` made of it. Without one, or with one that cannot be read, everything is read first to make
   * one.
   */
  readonly openIndex?: (signal: AbortSignal | undefined) => Promise<(RandomAccessSource & AsyncDisposable) | undefined>;
}

export interface ExportSelection {
  /** Topic names; absent or empty: all. */
  readonly topics?: readonly string[];
  /** First and last log time, both inclusive. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  /**
   * Begins with the latest message of each selected channel before `startNs`, at most `lookbackNs` earlier; without it
   * however early. Earlier recordings are searched backward until none can have a channel that has no message yet.
   */
  readonly lastPerChannel?: { readonly lookbackNs?: bigint };
}

/** What holds whatever the format is. */
export interface ExportOptions extends ExportSelection {
  /** For messages of chunks that overlap in time. Default 64 MiB. */
  readonly memoryBudgetBytes?: number;
  /** Asked before much memory is used at once. Default: one budget for everything in the process. */
  readonly hold?: HoldMemory | undefined;
  /** Default: one that all exports of the process share. */
  readonly pool?: RewritePool;
  /** Read uncompressed chunks as a whole, and compare their checksums, also where few of their messages are wanted. */
  readonly readsWholeChunks?: boolean;
  /** Told of each run of messages that is left out because it is damaged. The written file tells of them too. */
  readonly onSkippedDamage?: (damage: SkippedDamage) => void;
  readonly signal?: AbortSignal;
}

export interface McapExportOptions extends ExportOptions {
  readonly compression: Compression;
  readonly includeAttachments?: boolean;
  /** Written behind everything else; the last of a name is the one that counts. */
  readonly metadata?: readonly MetadataRecord[];
}

export interface BagExportOptions extends ExportOptions {
  readonly compression: BagCompression;
  /** A bag of at most so many bytes is made once and kept in memory. Default 16 MiB. */
  readonly mostHeldBytes?: number;
}

export interface SkippedDamage {
  /** The source's file name. */
  readonly source: string;
  /** Of the chunk in its file. */
  readonly offset: number;
  readonly reason: Reason;
  /** Selected messages in it; absent where its indexes do not tell. */
  readonly messagesLost?: number;
}

/**
 * Why recordings that are sound cannot be exported together.
 *
 * - `TooMuchOverlap` more chunks or recordings lie at the same time than can be put in order in bounded memory
 * - `TooManyChannels` the selected channels or schemas are more than an MCAP file holds
 * - `SpanExceeded` a recording holds messages before the span that its `ExportSource` told
 * - `NotABag` a bag was asked for of a recording of another format
 * - `LastMessagesTooLarge` the messages that `lastPerChannel` asks for do not fit into memory
 */
export type ExportFaultCode =
  | "TooMuchOverlap"
  | "TooManyChannels"
  | "SpanExceeded"
  | "LastMessagesTooLarge"
  | "NotABag";

export class ExportFault extends Error {
  readonly code: ExportFaultCode;

  constructor(code: ExportFaultCode, text: string) {
    super(text);
    this.name = "ExportFault";
    this.code = code;
  }
}

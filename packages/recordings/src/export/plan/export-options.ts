import type { Compression } from "../../codecs/compress.ts";
import type { Reason } from "../../faults/reasons.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import type { RandomAccessSource } from "../../sources/source.ts";
import type { MetadataRecord } from "../../survey/summary.ts";
import type { RewritePool } from "../rewrite/rewrite-pool.ts";
import type { BagCompression } from "../write-bag/write-bag.ts";

/** A recording to export from. It is opened only when the stream comes near its time. */
export interface ExportSource {
  /** Its extension matters. Reports about the source name it, too. */
  readonly fileName: string;
  /** Log times within which all of its messages lie, inclusive. A wider span costs an earlier opening. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /**
   * For each topic with messages a text that is equal if the topic has the same channels. `lastPerChannel` uses it: without it every
   * earlier source is opened, because it may have a channel of its own.
   */
  readonly topicKeys?: ReadonlyMap<string, string> | undefined;
  /** Whether what is readable of a recording that is not whole is taken. */
  readonly isSalvage?: boolean;
  /** SHA-256 of its bytes, hexadecimal, so that an index of another recording is refused. */
  readonly sha256?: string | undefined;
  /**
   * Called at most twice: the second time if messages before the window are wanted too. It is called twice as often for a bag, which is
   * also read to measure it.
   */
  open(signal: AbortSignal | undefined): Promise<RandomAccessSource & AsyncDisposable>;
  /**
   * The verified index that `indexRecording` made of it. Without one, or with one that cannot be read, everything is read first to make
   * one.
   */
  readonly openIndex?: (signal: AbortSignal | undefined) => Promise<(RandomAccessSource & AsyncDisposable) | undefined>;
}

export interface ExportSelection {
  /** Topic names. If it is absent or empty, all topics are wanted. */
  readonly topics?: readonly string[];
  /** First and last log time, both inclusive. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  /**
   * If present, the export begins with the latest message of each selected channel before `startNs`, at most `lookbackNs` earlier; without
   * `lookbackNs` however early. Earlier recordings are searched backward until none can have a channel that has no message yet.
   */
  readonly lastPerChannel?: { readonly lookbackNs?: bigint };
}

/** Options of an export in any format. */
export interface ExportOptions extends ExportSelection {
  /** The memory for messages of chunks that overlap in time. Default 64 MiB. */
  readonly memoryBudgetBytes?: number;
  /** Asked before much memory is used at once. By default everything in the process shares one budget. */
  readonly hold?: HoldMemory | undefined;
  /** By default all exports of the process share one pool. */
  readonly pool?: RewritePool;
  /** Whether uncompressed chunks are read as a whole and compared with their checksums, also if few of their messages are wanted. */
  readonly readsWholeChunks?: boolean;
  /** Gets each run of messages that is left out because it is damaged. The written file reports them too. */
  readonly onSkippedDamage?: (damage: SkippedDamage) => void;
  readonly signal?: AbortSignal;
}

export interface McapExportOptions extends ExportOptions {
  readonly compression: Compression;
  readonly includeAttachments?: boolean;
  /** Records that are written behind everything else. The last one of a name counts. */
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
  /** Where the chunk stands in its file. */
  readonly offset: number;
  readonly reason: Reason;
  /** The number of selected messages in it; absent if its indexes do not say it. */
  readonly messagesLost?: number;
}

/**
 * Why recordings that are sound cannot be exported together.
 *
 * - `TooMuchOverlap` more chunks or recordings lie at the same time than can be put in order in bounded memory
 * - `TooManyChannels` the selected channels or schemas are more than an MCAP file holds
 * - `SpanExceeded` a recording holds messages before the span that its `ExportSource` gave
 * - `NotABag` a bag was asked for of a recording of another format
 * - `TooMuchMetadata` a recording that is to be split has more metadata than are repeated in each file
 * - `LastMessagesTooLarge` the messages that `lastPerChannel` asks for do not fit into memory
 */
export type ExportErrorCode =
  | "TooMuchOverlap"
  | "TooManyChannels"
  | "SpanExceeded"
  | "TooMuchMetadata"
  | "LastMessagesTooLarge"
  | "NotABag";

export class ExportError extends Error {
  readonly code: ExportErrorCode;

  constructor(code: ExportErrorCode, text: string) {
    super(text);
    this.name = "ExportError";
    this.code = code;
  }
}

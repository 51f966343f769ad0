import type { Compression } from "../codecs/compress.ts";
import type { Reason } from "../reasons.ts";
import type { RandomAccessSource } from "../source.ts";
import type { MetadataRecord } from "../summary.ts";
import type { BagCompression } from "./bag/bag-body.ts";
import type { RewritePool } from "./rewrite/rewrite-pool.ts";

/** A recording to export from, opened only when the stream comes near its time. */
export interface ExportSource {
  /** Its extension matters; also names the source in what is told of it. */
  fileName: string;
  /** Log times within which all of its messages lie, inclusive. A wider span costs an earlier opening. */
  startNs: bigint;
  endNs: bigint;
  /** Take what is readable of a recording that is not whole, up to where it stops making sense. */
  isSalvage?: boolean;
  /**
   * Called at most twice, the second time where messages before the window are wanted too; twice as often for a bag, which
   * is read once to measure it.
   */
  open(signal: AbortSignal | undefined): Promise<RandomAccessSource & AsyncDisposable>;
}

export interface ExportSelection {
  /** Topic names; absent or empty: all. */
  topics?: readonly string[];
  /** First and last log time, both inclusive. */
  startNs?: bigint;
  endNs?: bigint;
  /**
   * Begins with the latest message of each selected channel before `startNs`, at most `lookbackNs` earlier; without it
   * however early. Earlier recordings are searched backward until every channel that is known has its message.
   */
  lastPerChannel?: { lookbackNs?: bigint };
}

/** What holds whatever the format is. */
export interface ExportOptions extends ExportSelection {
  /** For messages of chunks that overlap in time. Default 64 MiB. */
  memoryBudgetBytes?: number;
  /** Default: one that all exports of the process share. */
  pool?: RewritePool;
  /** Told of each run of messages that is left out because it is damaged. The written file tells of them too. */
  onSkippedDamage?: (damage: SkippedDamage) => void;
  signal?: AbortSignal;
}

export interface McapExportOptions extends ExportOptions {
  compression: Compression;
  includeAttachments?: boolean;
  /** Written behind everything else; the last of a name is the one that counts. */
  metadata?: readonly MetadataRecord[];
  /** Decompress and check chunks that are passed on as they are. */
  verifyPassThrough?: boolean;
}

export interface BagExportOptions extends ExportOptions {
  compression: BagCompression;
  /** A bag of at most so many bytes is made once and kept in memory. Default 16 MiB. */
  mostHeldBytes?: number;
}

export interface SkippedDamage {
  /** The source's file name. */
  source: string;
  /** Of the chunk in its file. */
  offset: number;
  reason: Reason;
  /** Selected messages in it; absent where its indexes do not tell. */
  messagesLost?: number;
}

import type { ReadContext } from "../../reading/read-context.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";
import type { Survey } from "../../survey/survey.ts";
import type { Selection } from "../rewrite/selection.ts";
import type { Queued } from "./run-queue.ts";

/** A source that is open, and what of it is wanted. */
export interface OpenSource {
  fileName: string;
  formatName: RecordingFormatName;
  context: ReadContext;
  /** Its channels, the schemas of those that are wanted, metadata and attachments. */
  survey: Pick<Survey, "profile" | "channels" | "metadata" | "attachments">;
  /** Only those that may hold selected messages. */
  runs: PlannedRuns;
  selection: Selection;
  /** The channels of a run, each with its number of messages. */
  channelsOf(run: PlannedRun): Promise<PlannedChannel[]>;
  /** Keeps it open until so many more calls of `release`. It is opened with one. */
  hold(count: number): void;
  release(): Promise<void>;
  /** At once, whoever holds it. */
  close(): Promise<void>;
}

/** A run as its index tells of it, and what of it is wanted. */
export interface PlannedRun {
  source: OpenSource;
  /** Of the source among the sources, then of the run in its file: the order of equal times. */
  order: number;
  offset: number;
  /** Of the chunk's record or the loose messages, and of the message indexes behind. */
  recordBytes: number;
  indexesBytes: number;
  /** Decompressed. */
  lengthBytes: number;
  /** Of its largest message's record. */
  largestBytes: number;
  /** Of the compressed bytes, counted from `offset`. */
  dataStart: number;
  storedBytes: number;
  compression: string;
  isChunk: boolean;
  startNs: bigint;
  endNs: bigint;
  checksum: number;
  indexesChecksum: number;
  isInOrder: boolean;
  wantedBytes: number;
  wantedCount: number;
  /** Behind the last wanted message, counted from the beginning of the decompressed run. */
  wantedEnd: number;
  isAllWanted: boolean;
  /** As far as the run alone decides: fit to stand elsewhere, right compression, all wanted, its ids those of the written file. */
  mayPass: boolean;
  /** Its messages are few, and can be read one by one. */
  mayPick: boolean;
  /** In the source's index. */
  place: { pageNumber: number; row: number };
}

export interface PlannedChannel {
  channelId: number;
  messageCount: number;
  recordsBytes: number;
  startNs: bigint;
  endNs: bigint;
  /** Counted from the end of the chunk's record; -1: there is none. */
  indexStart: number;
}

/** What of a run is wanted. */
export interface WantedOfRun {
  messageCount: number;
  /** Of their records. */
  recordsBytes: number;
  /** Behind the last of them, counted from the beginning of the decompressed run. */
  lastEnd: number;
  /** Every message is wanted. */
  isAll: boolean;
  mayPass: boolean;
  mayPick: boolean;
}

/** The planned runs of one source, which are taken one after another. */
export interface PlannedRuns extends RunSpans {
  /** The start and order of the run that is taken next. */
  next(): Queued | undefined;
  /** The next run, which is then not among them any more. */
  take(source: OpenSource): PlannedRun | undefined;
}

/** Of the runs that are left. */
export interface RunSpans {
  readonly length: number;
  startsNs(): BigInt64Array;
  endsNs(): BigInt64Array;
  largestBytes(): number;
}

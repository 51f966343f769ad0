import type { ReadContext } from "../../reading/read-context.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";
import type { Survey } from "../../survey/survey.ts";
import type { Selection } from "../rewrite/selection.ts";
import type { Queued } from "./run-queue.ts";

/** A source that is open, and what of it is wanted. */
export interface OpenSource {
  readonly fileName: string;
  readonly formatName: RecordingFormatName;
  readonly context: ReadContext;
  /** Its channels, the schemas of those that are wanted, metadata and attachments. */
  readonly survey: Pick<Survey, "profile" | "channels" | "metadata" | "attachments">;
  /** Only those that may hold selected messages. */
  readonly runs: PlannedRuns;
  readonly selection: Selection;
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
  readonly source: OpenSource;
  /** Of the source among the sources, then of the run in its file: the order of equal times. */
  readonly order: number;
  readonly offset: number;
  /** Of the chunk's record or the loose messages, and of the message indexes behind. */
  readonly recordBytes: number;
  readonly indexesBytes: number;
  /** Decompressed. */
  readonly lengthBytes: number;
  /** Of its largest message's record. */
  readonly largestBytes: number;
  /** Of the compressed bytes, counted from `offset`. */
  readonly dataStart: number;
  readonly storedBytes: number;
  readonly compression: string;
  readonly isChunk: boolean;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly checksum: number;
  readonly indexesChecksum: number;
  readonly isInOrder: boolean;
  readonly wantedBytes: number;
  readonly wantedCount: number;
  /** Behind the last wanted message, counted from the beginning of the decompressed run. */
  readonly wantedEnd: number;
  readonly isAllWanted: boolean;
  /** As far as the run alone decides: fit to stand elsewhere, right compression, all wanted, its ids those of the written file. */
  readonly mayPass: boolean;
  /** Its messages are few, and can be read one by one. */
  readonly mayPick: boolean;
  /** In the source's index. */
  readonly place: { readonly pageNumber: number; readonly row: number };
}

export interface PlannedChannel {
  readonly channelId: number;
  readonly messageCount: number;
  readonly recordsBytes: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Counted from the end of the chunk's record; -1: there is none. */
  readonly indexStart: number;
}

/** What of a run is wanted. */
export interface WantedOfRun {
  readonly messageCount: number;
  /** Of their records. */
  readonly recordsBytes: number;
  /** Behind the last of them, counted from the beginning of the decompressed run. */
  readonly lastEnd: number;
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

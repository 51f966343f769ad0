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
  /** Answers the channels of a run, each with its number of messages. */
  channelsOf(run: PlannedRun): Promise<PlannedChannel[]>;
  /** Keeps the source open until so many more calls of `release`. Opening it counts as one. */
  hold(count: number): void;
  release(): Promise<void>;
  /** Closes the source at once, also if others hold it. */
  close(): Promise<void>;
}

/** A run as its index describes it, and what of it is wanted. */
export interface PlannedRun {
  readonly source: OpenSource;
  /** The order of messages of equal times: by source, then by the run's place in its file. */
  readonly order: number;
  readonly offset: number;
  /** The size of the chunk's record or of the loose messages; below, of the message indexes behind it. */
  readonly recordBytes: number;
  readonly indexesBytes: number;
  /** The size of the records, decompressed. */
  readonly lengthBytes: number;
  /** The size of its largest message's record. */
  readonly largestBytes: number;
  /** Where the compressed bytes begin, counted from `offset`. */
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
  /** Where the last wanted message ends, counted from the beginning of the decompressed run. */
  readonly wantedEnd: number;
  readonly isAllWanted: boolean;
  /**
   * Whether it may be passed on, as far as the run alone decides: it is fit to stand elsewhere, has the right compression, is wanted as a
   * whole, and its ids are those of the written file.
   */
  readonly mayPass: boolean;
  /** Whether few of its messages are wanted, and they can be read one by one. */
  readonly mayPick: boolean;
  /** Where the run stands in the source's index. */
  readonly place: { readonly pageNumber: number; readonly row: number };
}

export interface PlannedChannel {
  readonly channelId: number;
  readonly messageCount: number;
  readonly recordsBytes: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Where its message index begins, counted from the end of the chunk's record; -1 if there is none. */
  readonly indexStart: number;
}

/** The part of a run that is wanted. */
export interface WantedOfRun {
  readonly messageCount: number;
  /** The size of their records. */
  readonly recordsBytes: number;
  /** Where the last of them ends, counted from the beginning of the decompressed run. */
  readonly lastEnd: number;
  /** Whether every message is wanted. */
  isAll: boolean;
  mayPass: boolean;
  mayPick: boolean;
}

/** The planned runs of one source, which are taken one after another. */
export interface PlannedRuns extends RunSpans {
  /** Answers the start and order of the run that is taken next. */
  next(): Queued | undefined;
  /** Takes the next run away. */
  take(source: OpenSource): PlannedRun | undefined;
}

/** The spans of the runs that are left. */
export interface RunSpans {
  readonly length: number;
  startsNs(): BigInt64Array;
  endsNs(): BigInt64Array;
  largestBytes(): number;
}

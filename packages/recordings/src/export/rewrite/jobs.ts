import type { Compression } from "../../codecs/compress.ts";
import type { Reason } from "../../faults/reasons.ts";
import type { SealedChunk } from "./chunk-builder.ts";
import type { Fragment } from "./fragment.ts";
import type { LargePart, MessageKey } from "./gather-large.ts";
import type { PickedRun } from "./pick-messages.ts";
import type { SentSelection } from "./selection.ts";
import type { StoredBytes, StoredRun } from "./stored-run.ts";
import type { ReadFrom } from "./thread-messages.ts";

/** What a worker thread can do. Everything in it can be sent between threads. */
export type Job = PassJob | FilterJob | PickJob | GatherJob | GatherLargeJob | LatestJob | SealJob | IndexJob;

/** Chunks that go into the written file as they are. */
export interface PassJob {
  kind: "pass";
  from: StoredBytes;
  offset: number;
  lengthBytes: number;
  /** One behind the other. */
  chunks: { place: string; recordBytes: number; checksum: number; indexesBytes: number; indexesChecksum: number }[];
}

/** Runs that overlap with nothing, into chunks. */
export interface FilterJob {
  kind: "filter";
  from: StoredBytes;
  runs: StoredRun[];
  selection: SentSelection;
  compression: Compression;
}

/** The same of uncompressed runs of which little is wanted. */
export interface PickJob {
  kind: "pick";
  from: StoredBytes;
  runs: PickedRun[];
  selection: SentSelection;
  compression: Compression;
}

/** A part of one run for merging: what fits into `maxBytes`, but at least one message, after the first `skip`. */
export interface GatherJob {
  kind: "gather";
  from: StoredBytes;
  run: StoredRun;
  selection: SentSelection;
  skip: number;
  maxBytes: number;
}

/** The same of a run that is too large to be held: what comes behind `after`. */
export interface GatherLargeJob {
  kind: "gatherLarge";
  readFrom: ReadFrom;
  run: StoredRun;
  selection: SentSelection;
  after: MessageKey | undefined;
  maxBytes: number;
}

/** The last selected message of each channel. */
export interface LatestJob {
  kind: "latest";
  from: StoredBytes;
  run: StoredRun;
  selection: SentSelection;
}

export interface SealJob {
  kind: "seal";
  fragment: Fragment;
  compression: Compression;
}

/** Reads all of a recording that nobody has indexed. */
export interface IndexJob {
  kind: "index";
  readFrom: ReadFrom;
  sizeBytes: number;
  fileName: string;
  isSalvage: boolean;
}

export interface JobResults {
  pass: { bytes: Uint8Array; checksum: number };
  /** In order; `rest` comes last and is too little for a chunk of its own. */
  filter: { chunks: SealedChunk[]; rest: Fragment };
  pick: { chunks: SealedChunk[]; rest: Fragment };
  gather: { fragment: Fragment; hasMore: boolean };
  gatherLarge: LargePart;
  latest: Fragment;
  seal: SealedChunk;
  index: { index: Uint8Array; refused: Reason | undefined };
}

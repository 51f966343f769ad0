import type { Compression } from "../../codecs/compress.ts";
import type { Reason } from "../../faults/reasons.ts";
import type { SealedChunk } from "./chunk-builder.ts";
import type { Fragment } from "./fragment.ts";
import type { PickedRun } from "./pick-messages.ts";
import type { SentSelection } from "./selection.ts";
import type { LargePart, MessageKey } from "./smallest-messages.ts";
import type { StoredBytes, StoredRun } from "./stored-run.ts";
import type { ReadFrom } from "./thread-messages.ts";

/** The jobs of a worker thread. Everything in it can be sent between threads. */
export type Job = PassJob | FilterJob | PickJob | GatherJob | GatherLargeJob | LatestJob | SealJob | IndexJob;

/** Chunks that go into the written file as they are. */
export interface PassJob {
  readonly kind: "pass";
  readonly from: StoredBytes;
  readonly offset: number;
  readonly lengthBytes: number;
  /** The chunks, which stand one behind the other. */
  readonly chunks: {
    readonly place: string;
    readonly recordBytes: number;
    readonly checksum: number;
    readonly indexesBytes: number;
    readonly indexesChecksum: number;
  }[];
}

/** Writes runs that overlap with nothing into chunks. */
export interface FilterJob {
  readonly kind: "filter";
  readonly from: StoredBytes;
  readonly runs: StoredRun[];
  readonly selection: SentSelection;
  readonly compression: Compression;
}

/** Writes uncompressed runs of which little is wanted into chunks. */
export interface PickJob {
  readonly kind: "pick";
  readonly from: StoredBytes;
  readonly runs: PickedRun[];
  readonly selection: SentSelection;
  readonly compression: Compression;
}

/** Loads a part of one run for merging: the messages behind the first `skip` that fit into `maxBytes`, but at least one. */
export interface GatherJob {
  readonly kind: "gather";
  readonly from: StoredBytes;
  readonly run: StoredRun;
  readonly selection: SentSelection;
  readonly skip: number;
  readonly maxBytes: number;
}

/** Loads a part of a run that is too large to be held: the messages behind `after`. */
export interface GatherLargeJob {
  readonly kind: "gatherLarge";
  readonly readFrom: ReadFrom;
  readonly run: StoredRun;
  readonly selection: SentSelection;
  readonly after: MessageKey | undefined;
  readonly maxBytes: number;
}

/** Loads the last selected message of each channel. */
export interface LatestJob {
  readonly kind: "latest";
  readonly from: StoredBytes;
  readonly run: StoredRun;
  readonly selection: SentSelection;
}

export interface SealJob {
  readonly kind: "seal";
  readonly fragment: Fragment;
  readonly compression: Compression;
}

/** Reads all of a recording that has no index yet. */
export interface IndexJob {
  readonly kind: "index";
  readonly readFrom: ReadFrom;
  readonly sizeBytes: number;
  readonly fileName: string;
  readonly isSalvage: boolean;
  readonly isPart: boolean;
}

export interface JobResults {
  readonly pass: { readonly bytes: Uint8Array; readonly checksum: number };
  /** The messages in order. `rest` comes last and is too little for a chunk of its own. */
  readonly filter: { readonly chunks: SealedChunk[]; readonly rest: Fragment };
  readonly pick: { readonly chunks: SealedChunk[]; readonly rest: Fragment };
  readonly gather: { readonly fragment: Fragment; readonly hasMore: boolean };
  readonly gatherLarge: LargePart;
  readonly latest: Fragment;
  readonly seal: SealedChunk;
  readonly index: {
    readonly index: Uint8Array;
    readonly refused?: Reason | undefined;
    readonly nextAt?: number | undefined;
  };
}

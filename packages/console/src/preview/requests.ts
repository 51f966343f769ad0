import type { StateLane } from "./collect-states.ts";
import type { FoundPicture } from "./find-picture.ts";
import type { Gap } from "./gaps.ts";
import type { Track } from "./make-track.ts";
import type { TreeNode } from "./message-tree.ts";
import type { LogRow } from "./read-log.ts";
import type { Point } from "./series.ts";
import type { TopicKind } from "./topic-kind.ts";

/** The requests to the worker, and its answers. Times are nanoseconds after the slice's origin. */
export interface PreviewRequests {
  readonly fields: { readonly topic: string };
  readonly plot: {
    readonly lines: readonly Line[];
    readonly startNs: number;
    readonly endNs: number;
    readonly columns: number;
  };
  /** The last message at or before the time, or the first one. */
  readonly message: { readonly topic: string; readonly timeNs: number };
  readonly image: { readonly topic: string; readonly timeNs: number };
  readonly track: { readonly topic: string };
  readonly log: { readonly topic: string };
  readonly states: { readonly topic: string };
}

export interface PreviewAnswers {
  /** `usual`: those that are drawn before any was chosen. */
  readonly fields: { readonly fields: readonly string[]; readonly usual: readonly string[] };
  readonly plot: Plot;
  readonly message: { readonly timeNs: number; readonly tree: TreeNode };
  readonly image: FoundPicture<ImageBitmap>;
  readonly track: { readonly track: Track };
  readonly log: LogLines;
  readonly states: States;
}

export type RequestKind = keyof PreviewRequests;

export interface Line {
  readonly topic: string;
  /** A JSON pointer. */
  readonly field: string;
}

/** Messages that could not be read, and why not the first of them. */
export interface Unread {
  readonly unreadable: number;
  readonly problem?: string;
}

export interface LogLines extends Unread {
  readonly rows: readonly LogRow[];
  /** Messages after these rows, which are not shown. */
  readonly leftOut: number;
}

export interface States extends Unread {
  readonly lanes: readonly StateLane[];
  /** Changes that are not shown. */
  readonly leftOut: number;
}

export interface Plot extends Unread {
  readonly timesNs: readonly number[];
  readonly points: readonly (readonly Point[])[];
  /** The gaps of all topics in the plot. */
  readonly gaps: readonly Gap[];
}

/** The slice as it was read, before anything is asked. */
export interface OpenedSlice {
  readonly originNs: bigint;
  readonly endNs: number;
  readonly bytes: number;
  readonly messageCount: number;
  readonly end: "complete" | "limit" | "damage";
  readonly topics: readonly OpenedTopic[];
}

export interface OpenedTopic {
  readonly topic: string;
  readonly schemaName: string;
  readonly kind: TopicKind;
  readonly messageCount: number;
  /** The times of its messages, thinned out where there are very many: for the steps of a slider. */
  readonly timesNs: readonly number[];
}

/** From the page to the worker. */
export type ToWorker =
  | { readonly type: "open"; readonly link: string }
  | {
      [K in RequestKind]: {
        readonly type: "ask";
        readonly id: number;
        readonly kind: K;
        readonly request: PreviewRequests[K];
      };
    }[RequestKind];

/** From the worker to the page. `alive` says only that it goes on. */
export type FromWorker =
  | { readonly type: "alive"; readonly bytes: number }
  | { readonly type: "opened"; readonly opened: OpenedSlice }
  | { readonly type: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly type: "refused"; readonly id: number; readonly problem: string }
  | { readonly type: "failed"; readonly problem: string };

import type { OpenedTopic } from "./requests.ts";
import type { PreviewSession } from "./session.ts";

/** The properties of what draws a topic. */
export interface LookProps {
  readonly session: PreviewSession;
  readonly topic: OpenedTopic;
  /** The origin of all other times of the slice, and how long after the beginning of the recording it is. */
  readonly originNs: bigint;
  readonly offsetNs: number;
  /** The part of time that is looked at. */
  readonly span: Span;
  readonly cursorNs: number;
  readonly onCursor: (cursorNs: number) => void;
}

/** Nanoseconds after the origin of the slice. */
export interface Span {
  readonly startNs: number;
  readonly endNs: number;
}

import type { OpenedTopic } from "./requests.ts";
import type { PreviewSession } from "./session.ts";

/** The properties of each view of a topic. */
export interface LookProps {
  readonly session: PreviewSession;
  readonly topic: OpenedTopic;
  readonly cursorNs: number;
  readonly onCursor: (cursorNs: number) => void;
}

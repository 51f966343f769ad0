import type { OpenedTopic } from "./requests.ts";
import type { PreviewSession } from "./session.ts";

/** What each way of looking at a topic is given. */
export interface LookProps {
  readonly session: PreviewSession;
  readonly topic: OpenedTopic;
  readonly cursorNs: number;
  readonly onCursor: (cursorNs: number) => void;
}

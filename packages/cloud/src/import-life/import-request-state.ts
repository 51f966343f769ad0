/**
 * The life of one import request: one file on its way into the cloud. spec: wire contract §4, pending import
 *
 *               store              take                index                        finish
 *   awaiting ─────────▶ received ──────▶ processing ──────────▶ ready for indexing ──────────▶ complete
 *    ▲    ▲              │    ▲              │                          │
 *    │    └─ redeliver ──┴────┼──────────────┴──────────────────────────┘
 *    │                        └────── retry ───────┐
 *    └───────────────── redeliver ───────────── error
 *
 * `fail` leads to `error` from `awaiting` and from the three that work, `cancel` to `cancelled` from every state but `complete`.
 * `retry` takes the stored bytes again, `redeliver` asks the device for them; both are somebody's wish once there was an error.
 * `awaiting` and `cancelled` are ours: before the bytes are here there is no pending import to list.
 */
export type ImportRequestState =
  | "awaiting"
  | "received"
  | "processing"
  | "ready for indexing"
  | "complete"
  | "error"
  | "cancelled";
export type ImportRequestEvent = "store" | "take" | "index" | "finish" | "fail" | "retry" | "redeliver" | "cancel";

type Row = Partial<Record<ImportRequestEvent, ImportRequestState>>;

const transitions: Record<ImportRequestState, Row> = {
  awaiting: { store: "received", fail: "error", cancel: "cancelled" },
  received: { take: "processing", fail: "error", redeliver: "awaiting", cancel: "cancelled" },
  processing: {
    take: "processing",
    index: "ready for indexing",
    fail: "error",
    redeliver: "awaiting",
    cancel: "cancelled",
  },
  "ready for indexing": {
    take: "processing",
    finish: "complete",
    fail: "error",
    redeliver: "awaiting",
    cancel: "cancelled",
  },
  complete: {},
  error: { retry: "received", redeliver: "awaiting", cancel: "cancelled" },
  cancelled: {},
};

/** The state after an event, or undefined where the event has no place in this state. */
export function nextRequestState(state: ImportRequestState, event: ImportRequestEvent): ImportRequestState | undefined {
  return transitions[state][event];
}

/** The states from which an event may be taken: the left side of a compare-and-set. */
export function statesBefore(event: ImportRequestEvent): ImportRequestState[] {
  return importRequestStates.filter((state) => transitions[state][event] !== undefined);
}

export const importRequestStates = Object.keys(transitions) as ImportRequestState[];

/** The states in which the bytes are here and a job works on them. */
export const workingStates = ["received", "processing", "ready for indexing"] as const satisfies ImportRequestState[];

/** Nothing more happens without somebody's request. */
export const terminalStates = ["complete", "error", "cancelled"] as const satisfies ImportRequestState[];

/**
 * The life of one import request: one file on its way into the cloud. spec: wire contract §4, pending import
 *
 *   awaiting ──store──▶ received ──take──▶ processing ──index──▶ ready for indexing ──finish──▶ complete
 *      │  ▲                  │                 │  │                      │
 *      │  └── redeliver ─────┴─────────────────┘  └────────── fail ──────┴──▶ error ──retry──▶ received
 *      ├── cancel ──▶ cancelled
 *      └── fail ────▶ error
 *
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
  received: { take: "processing", fail: "error", redeliver: "awaiting" },
  processing: { take: "processing", index: "ready for indexing", fail: "error", redeliver: "awaiting" },
  "ready for indexing": { take: "processing", finish: "complete", fail: "error", redeliver: "awaiting" },
  complete: {},
  error: { retry: "received" },
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

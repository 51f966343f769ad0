import type { ImportRequestModel } from "../db/generated/models.ts";
import { states } from "../db/generated/states.ts";

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
 * `retry` takes the stored bytes again, `redeliver` asks the device for them; somebody requests either once there was an error.
 * `awaiting` and `cancelled` are ours: before the bytes are here there is no pending import to list.
 */
export type ImportRequestState = ImportRequestModel["state"];
export type ImportRequestEvent = "store" | "take" | "index" | "finish" | "fail" | "retry" | "redeliver" | "cancel";

/** The event has no place in this state. */
const no = undefined;

const transitions: Record<ImportRequestState, Record<ImportRequestEvent, ImportRequestState | typeof no>> = {
  awaiting: {
    store: "received",
    take: no,
    index: no,
    finish: no,
    fail: "error",
    retry: no,
    redeliver: no,
    cancel: "cancelled",
  },
  received: {
    store: no,
    take: "processing",
    index: no,
    finish: no,
    fail: "error",
    retry: no,
    redeliver: "awaiting",
    cancel: "cancelled",
  },
  processing: {
    store: no,
    take: "processing",
    index: "ready for indexing",
    finish: no,
    fail: "error",
    retry: no,
    redeliver: "awaiting",
    cancel: "cancelled",
  },
  "ready for indexing": {
    store: no,
    take: "processing",
    index: no,
    finish: "complete",
    fail: "error",
    retry: no,
    redeliver: "awaiting",
    cancel: "cancelled",
  },
  complete: { store: no, take: no, index: no, finish: no, fail: no, retry: no, redeliver: no, cancel: no },
  error: {
    store: no,
    take: no,
    index: no,
    finish: no,
    fail: no,
    retry: "received",
    redeliver: "awaiting",
    cancel: "cancelled",
  },
  cancelled: { store: no, take: no, index: no, finish: no, fail: no, retry: no, redeliver: no, cancel: no },
};

/** The state after an event, or undefined where the event has no place in this state. */
export function nextRequestState(state: ImportRequestState, event: ImportRequestEvent): ImportRequestState | undefined {
  return transitions[state][event];
}

/** The states from which an event may be taken: the left side of a compare-and-set. */
export function statesBefore(event: ImportRequestEvent): ImportRequestState[] {
  return importRequestStates.filter((state) => transitions[state][event] !== undefined);
}

export const importRequestStates: readonly ImportRequestState[] = states.ImportRequest.state;

/** The states in which the bytes are here and a job works on them. */
export const workingStates = ["received", "processing", "ready for indexing"] as const satisfies ImportRequestState[];

/** Nothing more happens without somebody's request. */
export const terminalStates = ["complete", "error", "cancelled"] as const satisfies ImportRequestState[];

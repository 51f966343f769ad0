import type { ImportRequestModel } from "../db/generated/models.ts";
import { states } from "../db/generated/states.ts";

/**
 * The life of one import request, which brings one file into the cloud. spec: wire contract §4, pending import
 *
 * store              take                index                        finish
 * awaiting ─────────▶ received ──────▶ processing ──────────▶ ready for indexing ──────────▶ complete
 * ▲    ▲              │    ▲              │                          │
 * │    └─ redeliver ──┴────┼──────────────┴──────────────────────────┘
 * │                        └────── retry ───────┐
 * └───────────────── redeliver ───────────── error
 *
 * `fail` leads to `error` from `awaiting` and from the three working states, `cancel` to `cancelled` from every state but `complete`.
 * `retry` processes the stored bytes again, `redeliver` asks the device for them; either may follow an error.
 * `adopt` leads to `complete` from whatever state a restored database has: the object store says that the import was complete.
 * The specification does not have `awaiting` and `cancelled`: before the bytes are stored there is no pending import to list.
 */
export type ImportRequestState = ImportRequestModel["state"];
export type ImportRequestEvent =
  | "store"
  | "take"
  | "index"
  | "finish"
  | "fail"
  | "retry"
  | "redeliver"
  | "cancel"
  | "adopt";

/** The event does not apply in this state. */
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
    adopt: "complete",
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
    adopt: "complete",
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
    adopt: "complete",
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
    adopt: "complete",
  },
  complete: { store: no, take: no, index: no, finish: no, fail: no, retry: no, redeliver: no, cancel: no, adopt: no },
  error: {
    store: no,
    take: no,
    index: no,
    finish: no,
    fail: no,
    retry: "received",
    redeliver: "awaiting",
    cancel: "cancelled",
    adopt: "complete",
  },
  cancelled: { store: no, take: no, index: no, finish: no, fail: no, retry: no, redeliver: no, cancel: no, adopt: no },
};

/** Returns the state after an event, or undefined if the event does not apply in this state. */
export function nextRequestState(state: ImportRequestState, event: ImportRequestEvent): ImportRequestState | undefined {
  return transitions[state][event];
}

/** Returns the states in which an event applies: the left side of a compare-and-set. */
export function statesBefore(event: ImportRequestEvent): ImportRequestState[] {
  return importRequestStates.filter((state) => transitions[state][event] !== undefined);
}

export const importRequestStates: readonly ImportRequestState[] = states.ImportRequest.state;

/** The states in which the bytes are stored and a job works on them. */
export const workingStates = ["received", "processing", "ready for indexing"] as const satisfies ImportRequestState[];

/** In these states nothing more happens by itself. */
export const terminalStates = ["complete", "error", "cancelled"] as const satisfies ImportRequestState[];

import type { ImportStatus } from "@downlink/protocol";

/**
 * The life of a recording. spec: wire contract §4
 *
 *                 request                stored               imported
 *      ┌──────┐ ─────────▶ ┌─────────┐ ─────────▶ ┌───────────┐ ─────────▶ ┌──────────┐
 *      │ none │            │ pending │            │ importing │            │ complete │
 *      └──────┘ ◀───────── └─────────┘ ◀───────── └───────────┘            └──────────┘
 *          ▲      cancel        │       redeliver    │     ▲                     │
 *          │                    │ edgeGone, fail     │ fail│ retry               │ deleteData
 *          │                    ▼                    ▼     │                     │
 *          │               ┌────────────────────────────────┐                    │
 *          │               │ failed                         │ ─ request ─▶ pending
 *          │               └────────────────────────────────┘                    │
 *          └─────────────────────────────────────────────────────────────────────┘
 *
 * After a restore, `adopted` leads to `complete` from every status, because the store has its object and says so; `objectLost` leads
 * from `complete` to `failed`, because the store has not.
 * `removed` is no status: the row goes. Without an edge copy `deleteData` removes; `edgeGone` removes what was never imported.
 */
export type RecordingEvent =
  | "request"
  | "cancel"
  | "stored"
  | "redeliver"
  | "retry"
  | "imported"
  | "fail"
  | "edgeGone"
  | "deleteData"
  | "adopted"
  | "objectLost";
export type RecordingOutcome = ImportStatus | "removed";
type Removing = "edgeGone" | "deleteData";

/** The failure columns of a recording in every status but `failed`. */
export const noFailure = { failureCode: null, failureText: null, duplicateOfId: null } as const;

/** The columns that say what is wrong with the stored data, where nothing is known to be. */
export const noDamage = { storedDamage: null, damagedSinceNs: null } as const;

const transitions: Record<
  ImportStatus,
  Record<Exclude<RecordingEvent, Removing>, ImportStatus> & Record<Removing, RecordingOutcome>
> = {
  none: {
    request: "pending",
    cancel: "none",
    stored: "none",
    redeliver: "none",
    retry: "none",
    imported: "none",
    fail: "none",
    edgeGone: "removed",
    deleteData: "none",
    adopted: "complete",
    objectLost: "none",
  },
  pending: {
    request: "pending",
    cancel: "none",
    stored: "importing",
    redeliver: "pending",
    retry: "pending",
    imported: "pending",
    fail: "failed",
    edgeGone: "failed",
    deleteData: "none",
    adopted: "complete",
    objectLost: "pending",
  },
  importing: {
    request: "importing",
    cancel: "importing",
    stored: "importing",
    redeliver: "pending",
    retry: "importing",
    imported: "complete",
    fail: "failed",
    edgeGone: "importing",
    deleteData: "none",
    adopted: "complete",
    objectLost: "importing",
  },
  failed: {
    request: "pending",
    cancel: "failed",
    stored: "failed",
    redeliver: "failed",
    retry: "importing",
    imported: "failed",
    fail: "failed",
    edgeGone: "failed",
    deleteData: "none",
    adopted: "complete",
    objectLost: "failed",
  },
  complete: {
    request: "complete",
    cancel: "complete",
    stored: "complete",
    redeliver: "complete",
    retry: "complete",
    imported: "complete",
    fail: "complete",
    edgeGone: "complete",
    deleteData: "none",
    adopted: "complete",
    objectLost: "failed",
  },
};

/** Returns what a recording becomes; the same status means that the event has no effect on it. */
export function nextImportStatus(
  status: ImportStatus,
  event: Exclude<RecordingEvent, Removing>,
  hasEdgeCopy: boolean,
): ImportStatus;
export function nextImportStatus(status: ImportStatus, event: RecordingEvent, hasEdgeCopy: boolean): RecordingOutcome;
export function nextImportStatus(status: ImportStatus, event: RecordingEvent, hasEdgeCopy: boolean): RecordingOutcome {
  const next = transitions[status][event];
  return event === "deleteData" && !hasEdgeCopy ? "removed" : next;
}

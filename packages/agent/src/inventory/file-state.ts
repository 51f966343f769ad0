import type { EdgeItem } from "@downlink/protocol";

/**
 * The life of one version of a file on the device.
 *
 *            ┌────────── changed ──────────┐
 *            │                             ▼          finished
 *   (scan)─▶ seen ── changed, unfinished ─▶ settling ──────────┐
 *            │ │                             │ │  ▲             │
 *            │ └─────────── finished ────────┼─┼──┼─────────────┤
 *            │      foundEmpty ──▶ empty     │ │  │ changed     ▼
 *            └──────foundDamaged ▶ damaged ◀─┘ │  │          indexed ── acknowledged ──▶ reported
 *                   stayedUnfinished ▶ incomplete │             │                       │  ▲
 *                   readFailed ─────▶ unreadable ─┘             └──── wanted ──┐ wanted │  │ unwanted
 *                                                                              ▼        ▼  │
 *       failed ◀── importFailed ── stored ◀── delivered ── uploading ◀── uploadStarted ── requested
 *         │                          │                        └──── uploadStopped ──────────▶ ▲
 *         └──────── wanted ──────────┼───────────────────────────────────────── wanted ───────┤
 *                                 imported ◀── importDone                                      │
 *                                    └───────────────────────── wanted ───────────────────────┘
 *
 *   As importFailed, foundDuplicate leads to duplicate: the cloud has the same content as another recording. From requested on,
 *   importTakenBack leads to reported: an end counts no more, because the data was deleted or the failure taken back.
 *
 *   indexed, reported, imported, failed, duplicate ── deletionPlanned ──▶ deleting ── deleted ──▶ gone
 *                           reported ◀────────── kept ─────────┘  └── wanted ──▶ requested
 *   indexed, reported ── unassigned (it names no device, at a site) ──▶ unassigned ── assigned ──▶ reported
 *
 *   From every state: cardOut ─▶ away, and cardIn back to what it was: its card is out. Meanwhile what the cloud says goes on
 *   beneath it ({@link nextBeneath}).
 *
 *   From every other state: vanished ─▶ gone. From every other that was indexed: changed (in its content) ─▶ gone, and the
 *   bytes that are there now begin as another version. `gone` is the end.
 */
export const fileStates = [
  "seen",
  "settling",
  "unreadable",
  "incomplete",
  "damaged",
  "empty",
  "indexed",
  "reported",
  "unassigned",
  "requested",
  "uploading",
  "stored",
  "imported",
  "failed",
  "duplicate",
  "deleting",
  "away",
  "gone",
] as const;
export type FileState = (typeof fileStates)[number];

export const fileEvents = [
  "changed",
  "vanished",
  "unfinished",
  "stayedUnfinished",
  "finished",
  "foundEmpty",
  "foundDamaged",
  "readFailed",
  "acknowledged",
  "wanted",
  "unwanted",
  "uploadStarted",
  "uploadStopped",
  "delivered",
  "importDone",
  "importFailed",
  "foundDuplicate",
  "importTakenBack",
  "deletionPlanned",
  "deleted",
  "kept",
  "unassigned",
  "assigned",
  "cardOut",
  "cardIn",
] as const;
export type FileEvent = (typeof fileEvents)[number];

/** What each event makes of a state; `same`: it has no effect (it comes late, repeated, or is meant for another state). */
type Row = Readonly<Record<FileEvent, FileState | "same">>;

/** Every event is named here, so that a new one does not compile before somebody has thought of what it changes. */
const unaffected: Row = {
  changed: "same",
  vanished: "same",
  unfinished: "same",
  stayedUnfinished: "same",
  finished: "same",
  foundEmpty: "same",
  foundDamaged: "same",
  readFailed: "same",
  acknowledged: "same",
  wanted: "same",
  unwanted: "same",
  uploadStarted: "same",
  uploadStopped: "same",
  delivered: "same",
  importDone: "same",
  importFailed: "same",
  foundDuplicate: "same",
  importTakenBack: "same",
  deletionPlanned: "same",
  deleted: "same",
  kept: "same",
  unassigned: "same",
  assigned: "same",
  cardOut: "same",
  cardIn: "same",
};

const beforeIndexing: Row = {
  ...unaffected,
  changed: "settling",
  vanished: "gone",
  unfinished: "settling",
  stayedUnfinished: "incomplete",
  finished: "indexed",
  foundEmpty: "empty",
  foundDamaged: "damaged",
  readFailed: "unreadable",
  cardOut: "away",
};

const notARecording: Row = { ...unaffected, changed: "gone", vanished: "gone", cardOut: "away" };

/** The cloud may know more than we noted: after a crash, any of these can be the first we hear. */
const recording: Row = {
  ...unaffected,
  changed: "gone",
  vanished: "gone",
  wanted: "requested",
  delivered: "stored",
  importDone: "imported",
  importFailed: "failed",
  foundDuplicate: "duplicate",
  cardOut: "away",
};

const deletable: Row = { ...recording, deletionPlanned: "deleting" };

const takenBack = { importTakenBack: "reported" } as const;

const transitions: Readonly<Record<FileState, Row>> = {
  seen: beforeIndexing,
  settling: beforeIndexing,
  unreadable: beforeIndexing,
  incomplete: notARecording,
  damaged: notARecording,
  empty: notARecording,
  indexed: { ...deletable, acknowledged: "reported", unassigned: "unassigned" },
  reported: { ...deletable, unassigned: "unassigned" },
  unassigned: { ...notARecording, assigned: "reported" },
  requested: { ...recording, ...takenBack, unwanted: "reported", uploadStarted: "uploading" },
  uploading: { ...recording, ...takenBack, wanted: "uploading", unwanted: "reported", uploadStopped: "requested" },
  stored: { ...recording, ...takenBack, unwanted: "reported" },
  imported: { ...deletable, ...takenBack },
  failed: { ...deletable, ...takenBack },
  duplicate: { ...deletable, ...takenBack },
  deleting: {
    ...unaffected,
    ...takenBack,
    changed: "gone",
    vanished: "gone",
    deleted: "gone",
    kept: "reported",
    wanted: "requested",
    cardOut: "away",
  },
  // As what it was; where nothing is known of that, as what the cloud knows. Nothing that is found here is about it.
  away: { ...unaffected, cardIn: "reported" },
  gone: unaffected,
};

/** Total: an event that has no effect in a state leaves it as it is. */
export function nextState(state: FileState, event: FileEvent): FileState {
  const next = transitions[state][event];
  return next === "same" ? state : next;
}

/** As what a file goes away whose card is taken out: an upload ends with that. */
export function stateBeneath(state: FileState): FileState {
  return state === "uploading" ? "requested" : state;
}

/**
 * What becomes of what a file was before its card went: whatever needs the file itself waits for the card. What seems to have
 * changed or gone was looked for where another card is by now; on its own card it is found out again.
 */
export function nextBeneath(before: FileState, event: FileEvent): FileState {
  const next = event === "changed" ? before : nextState(before, event);
  return waitsForCard.has(next) ? before : next;
}

const waitsForCard: ReadonlySet<FileState> = new Set(["uploading", "deleting", "away", "gone"]);

/** As what the cloud should know a file in this state; undefined: not at all. */
export function reportedState(state: FileState): EdgeItem["state"] | undefined {
  return reportedStates[state];
}

const reportedStates: Readonly<Record<FileState, EdgeItem["state"] | undefined>> = {
  seen: undefined,
  settling: "settling",
  unreadable: "unreadable",
  incomplete: "incomplete",
  damaged: "damaged",
  empty: "empty",
  indexed: "indexed",
  reported: "indexed",
  unassigned: "unassigned",
  requested: "indexed",
  uploading: "indexed",
  stored: "indexed",
  imported: "indexed",
  failed: "indexed",
  duplicate: "indexed",
  deleting: "indexed",
  away: undefined,
  gone: undefined,
};

/** Whether the version has no content of its own yet, so that a change of the file does not make another version. */
export function isBeforeIndexing(state: FileState): boolean {
  return transitions[state] === beforeIndexing;
}

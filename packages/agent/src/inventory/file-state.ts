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
 *   From where importFailed leads to failed, foundDuplicate leads to duplicate: the cloud has the same content as another
 *   recording. From requested on, importTakenBack leads to reported: the import's end no longer counts, because the data was
 *   deleted or the failure was taken back.
 *
 *   indexed, reported, imported, failed, duplicate ── deletionPlanned ──▶ deleting ── deleted ──▶ gone
 *                           reported ◀────────── kept ─────────┘  └── wanted ──▶ requested
 *   indexed, reported ── unassigned (it names no device, at a site) ──▶ unassigned ── assigned ──▶ reported
 *
 *   From every state cardOut leads to away, and cardIn leads back to the state before. While the card is out, what the cloud
 *   says changes the state beneath ({@link nextBeneath}).
 *
 *   From every other state vanished leads to gone. From every other state after indexing changed (the content is another one)
 *   leads to gone, and the bytes that are there now begin as another version. `gone` is the end.
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

/** The next state for each event. `same` stands for no effect: the event came late, came twice, or is for another state. */
type Row = Readonly<Record<FileEvent, FileState | "same">>;

/** Every event is named here, so that a new one does not compile before its effect is decided. */
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

/** The cloud may know more than we noted: after a crash, any of these events can be the first that arrives. */
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
  // The state beneath comes back, or, where none is known, the one that the cloud knows. No event that is found here is about it.
  away: { ...unaffected, cardIn: "reported" },
  gone: unaffected,
};

/** Total: an event that has no effect in a state leaves it as it is. */
export function nextState(state: FileState, event: FileEvent): FileState {
  const next = transitions[state][event];
  return next === "same" ? state : next;
}

/** Returns the state that waits for the card, once it is taken out: an upload ends with that. */
export function stateBeneath(state: FileState): FileState {
  return state === "uploading" ? "requested" : state;
}

/**
 * Returns the next state beneath `away`. Whatever needs the file itself waits for its card. A file that seems to be changed or gone was
 * looked for on another card: its own card will show what became of it.
 */
export function nextBeneath(before: FileState, event: FileEvent): FileState {
  const next = event === "changed" ? before : nextState(before, event);
  return waitsForCard.has(next) ? before : next;
}

const waitsForCard: ReadonlySet<FileState> = new Set(["uploading", "deleting", "away", "gone"]);

/** Returns the state in which the cloud should know such a file; undefined where the cloud should not know it. */
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

/** Returns whether the version has no content of its own yet, so that a change of the file does not make another version. */
export function isBeforeIndexing(state: FileState): boolean {
  return transitions[state] === beforeIndexing;
}

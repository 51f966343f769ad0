/**
 * waiting → checking → sending → importing → imported
 *
 * `existing`: the content was here before · `away` and `signedOut`: a break, after which it is sent on · `paused` by the user · `failed`, and can be
 * tried again · `interrupted`: the page was left meanwhile, and the file has to be chosen again.
 */
export type Phase =
  | "waiting"
  | "checking"
  | "sending"
  | "away"
  | "signedOut"
  | "paused"
  | "importing"
  | "imported"
  | "existing"
  | "failed"
  | "interrupted";

export interface UploadState {
  readonly phase: Phase;
  /** How much of the file was hashed in this run. */
  readonly checkedBytes: number;
  /** How much of the file the service has, or is on its way there. */
  readonly sentBytes: number;
  /** Why it failed, or why a file that was chosen is not the one. */
  readonly problem?: string | undefined;
  /** The recording, once it is there and known. */
  readonly recordingId?: string | undefined;
}

export type UploadEvent =
  | { readonly type: "check"; readonly bytes: number }
  | { readonly type: "send"; readonly bytes: number }
  | { readonly type: "break"; readonly isSignedOut: boolean }
  | { readonly type: "pause" }
  | { readonly type: "goOn" }
  | { readonly type: "store" }
  | { readonly type: "import"; readonly recordingId: string | undefined }
  | { readonly type: "exist"; readonly recordingId: string }
  | { readonly type: "fail"; readonly problem: string }
  | { readonly type: "interrupt"; readonly problem: string };

/** The phases in which an upload is worked on, or is about to be. */
const UNDER_WAY: readonly Phase[] = ["waiting", "checking", "sending", "away", "signedOut"];

/** In which phases an event means something. In all others it came too late, and changes nothing. */
const WHEN: Readonly<Record<UploadEvent["type"], readonly Phase[]>> = {
  check: ["waiting", "checking"],
  send: UNDER_WAY,
  break: UNDER_WAY,
  pause: UNDER_WAY,
  goOn: ["paused", "failed", "interrupted"],
  store: UNDER_WAY,
  import: ["importing"],
  exist: [...UNDER_WAY, "importing"],
  fail: [...UNDER_WAY, "paused", "importing", "failed", "interrupted"],
  interrupt: [...UNDER_WAY, "interrupted"],
};

export const newUpload: UploadState = { phase: "waiting", checkedBytes: 0, sentBytes: 0 };

/** Returns the state after an event. */
export function nextState(state: UploadState, event: UploadEvent): UploadState {
  if (!WHEN[event.type].includes(state.phase)) return state;
  const bytes = { checkedBytes: state.checkedBytes, sentBytes: state.sentBytes };
  switch (event.type) {
    case "check":
      return { ...bytes, phase: "checking", checkedBytes: event.bytes };
    case "send":
      return { ...bytes, phase: "sending", sentBytes: event.bytes };
    case "break":
      return { ...bytes, phase: event.isSignedOut ? "signedOut" : "away" };
    case "pause":
      return { ...bytes, phase: "paused" };
    case "goOn":
      return { ...bytes, phase: "waiting", checkedBytes: 0 };
    case "store":
      return { ...bytes, phase: "importing" };
    case "import":
      return { ...bytes, phase: "imported", recordingId: event.recordingId };
    case "exist":
      return { ...bytes, phase: "existing", recordingId: event.recordingId };
    case "fail":
      return { ...bytes, phase: "failed", problem: event.problem };
    case "interrupt":
      return { ...bytes, phase: "interrupted", problem: event.problem };
  }
}

/** Returns whether bytes are read or sent, or will be: leaving the page would break it off. */
export function isUnderWay({ phase }: UploadState): boolean {
  return UNDER_WAY.includes(phase);
}

/** Returns whether nothing more happens to it, so that its row can be cleared. */
export function isEnded({ phase }: UploadState): boolean {
  return phase === "imported" || phase === "existing";
}

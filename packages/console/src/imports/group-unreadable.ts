import type { EdgeFile, EdgeFileState } from "@downlink/protocol";
import { adviceOn, hasAdvice } from "./failure-advice.ts";

export interface UnreadableGroup {
  /** The code of the reason, or the state where there is none. */
  readonly code: string;
  readonly title: string;
  /** The step that a person can take. */
  readonly next: string;
  readonly files: readonly EdgeFile[];
}

const STATES: Readonly<Record<EdgeFileState, { readonly title: string; readonly next: string }>> = {
  settling: { title: "Still being written", next: "It is examined again by itself once it no longer changes." },
  incomplete: { title: "Incomplete", next: "Salvage what is readable." },
  damaged: { title: "Damaged", next: "Salvage what is readable." },
  empty: { title: "Empty", next: "It has no content." },
  unassigned: {
    title: "Of an unknown device",
    next: "Add the device that the file names, or name it in the file.",
  },
  unreadable: {
    title: "Cannot be read on the device",
    next: "Look at it on the device: `agent explain FILE`, `agent doctor`.",
  },
};

/** Groups files that are no recordings by their reason: the most frequent first, and those last that need no action. */
export function groupUnreadable(files: readonly EdgeFile[], onlyCode = ""): UnreadableGroup[] {
  const groups = Map.groupBy(files, ({ reason, state }) => (state === "settling" ? state : (reason?.code ?? state)));
  return [...groups]
    .filter(([code]) => onlyCode === "" || code === onlyCode)
    .map(([code, members]) => ({ code, ...textsOf(code, members[0]!.state), files: members }))
    .sort((a, b) => rank(a) - rank(b) || b.files.length - a.files.length || a.code.localeCompare(b.code));
}

function textsOf(code: string, state: EdgeFileState) {
  return { title: hasAdvice(code) ? adviceOn(code).title : STATES[state].title, next: STATES[state].next };
}

function rank({ code }: UnreadableGroup): number {
  return code === "settling" ? 1 : 0;
}

/** Returns whether the agent can make a recording of what is readable: it can where it found a span. */
export function canSalvage({ state, salvage, salvageRequest }: EdgeFile): boolean {
  const isBroken = state === "incomplete" || state === "damaged";
  return isBroken && salvage !== undefined && salvageRequest?.state !== "requested" && salvageRequest?.state !== "made";
}

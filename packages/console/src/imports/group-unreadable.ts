import type { EdgeFile, EdgeFileState } from "@downlink/protocol";
import { formatCount } from "../parts/bytes.ts";
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
  incomplete: { title: "Incomplete", next: "" }, // its advice is about what can be salvaged of the files
  damaged: { title: "Damaged", next: "" },
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
    .map(([code, files]) => ({ code, ...textsOf(code, files), files }))
    .sort((a, b) => rank(a) - rank(b) || b.files.length - a.files.length || a.code.localeCompare(b.code));
}

function textsOf(code: string, files: readonly EdgeFile[]) {
  const { title, next } = STATES[files[0]!.state];
  return {
    title: hasAdvice(code) ? adviceOn(code).title : title,
    next: isBroken(files[0]!) ? salvageText(files) : next,
  };
}

const NOTHING_READABLE = "no part that can be read was found";

/** Advises a salvage as far as one can be made. */
function salvageText(files: readonly EdgeFile[]): string {
  const count = files.filter(({ salvage }) => salvage !== undefined).length;
  if (count === files.length) return "Salvage what is readable.";
  const few = files.length === 1 ? "it" : "them";
  if (count === 0)
    return `Look at ${few} on the device: ${NOTHING_READABLE} in ${few}, and so nothing can be salvaged.`;
  const rest = formatCount(files.length - count);
  return `Salvage what is readable of ${formatCount(count)}. In the other ${rest}, ${NOTHING_READABLE}.`;
}

function rank({ code }: UnreadableGroup): number {
  return code === "settling" ? 1 : 0;
}

/** Returns whether the agent can make a recording of what is readable: it can where it found a span. */
export function canSalvage(file: EdgeFile): boolean {
  const { salvage, salvageRequest } = file;
  const isUnderWay = salvageRequest?.state === "requested" || salvageRequest?.state === "made";
  return isBroken(file) && salvage !== undefined && !isUnderWay;
}

function isBroken({ state }: EdgeFile): boolean {
  return state === "incomplete" || state === "damaged";
}

import type { Suspect, Suspects } from "../state/known-facts.ts";

/** What a process left that did not stop by itself. */
export interface Note {
  readonly id: string;
  /** Of the start of the machine under which it was written. */
  readonly bootId?: string | undefined;
  readonly keys: readonly string[];
}

export interface Moment {
  readonly nowNs: bigint;
  readonly uptimeMs: number;
  /** Since this process began. */
  readonly runningMs: number;
  readonly bootId?: string | undefined;
}

/** `suspect`: to be examined after all others, for it may end the process. `setAside`: not now. */
export type Standing = "clear" | "suspect" | "setAside";

/** Twice is no accident. Power cuts are, however many; but a file may bring down the machine as well. */
const MOST_DEATHS = 2;
const MOST_CUTS = 5;
const RETRY_MS = 24 * 3_600_000;
/** Enough for all that can be true; a list that grows without end would be a trouble of its own. */
const MOST_SUSPECTS = 500;

/** Of several that were examined at once it is the one that was suspected before; else it may have been any. */
export function blame(suspects: Suspects, note: Note, moment: Moment): Suspects {
  const known = note.keys.filter((key) => suspects.byKey[key] !== undefined);
  const isCut = note.bootId !== moment.bootId;
  const blamed = (known.length > 0 ? known : note.keys).map((key) => {
    const { deaths, cuts } = suspects.byKey[key] ?? { deaths: 0, cuts: 0 };
    const counts = isCut ? { deaths, cuts: cuts + 1 } : { deaths: deaths + 1, cuts };
    const { nowNs, uptimeMs, bootId } = moment;
    return [key, { ...counts, atNs: `${nowNs}`, uptimeMs, bootId }] as const;
  });
  const others = Object.entries(suspects.byKey).filter(([key]) => !blamed.some(([other]) => other === key));
  return { lastNoteId: note.id, byKey: Object.fromEntries([...others, ...blamed].slice(-MOST_SUSPECTS)) };
}

export function standingOf(suspect: Suspect | undefined, moment: Moment): Standing {
  if (!suspect) return "clear";
  const isSetAside = suspect.deaths >= MOST_DEATHS || suspect.cuts >= MOST_CUTS;
  return isSetAside && !isRetryDue(suspect, moment) ? "setAside" : "suspect";
}

/** A day later: by what nobody can set as far as that goes, by the wall clock where the machine was off in between. */
function isRetryDue({ atNs, uptimeMs, bootId }: Suspect, moment: Moment): boolean {
  if (moment.runningMs >= RETRY_MS) return true;
  if (bootId === moment.bootId) return moment.uptimeMs - uptimeMs >= RETRY_MS;
  return moment.nowNs - BigInt(atNs) >= BigInt(RETRY_MS) * 1_000_000n;
}

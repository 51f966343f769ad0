import type { Suspect, Suspects } from "../state/known-facts.ts";

/** The note of a process that did not stop in order. */
export interface Note {
  readonly id: string;
  /** The start of the machine during which it was written. */
  readonly bootId?: string | undefined;
  readonly keys: readonly string[];
}

export interface Moment {
  readonly nowNs: bigint;
  readonly uptimeMs: number;
  /** The time since this process began. */
  readonly runningMs: number;
  readonly bootId?: string | undefined;
}

/** A `suspect` is examined after all others, because it may end the process. A file that is `setAside` is not examined now. */
export type Standing = "clear" | "suspect" | "setAside";

/**
 * Two deaths are no accident, unless the work takes minutes, as a cut may, and is of a file that was examined before without harm. Power cuts
 * are accidents, but a file may bring down the machine as well.
 */
const MOST_DEATHS = { short: 2, long: 5 } as const;
const MOST_CUTS = 5;
const RETRY_MS = 24 * 3_600_000;
/** The longest list of suspects: more files than can be at fault. */
const MOST_SUSPECTS = 500;

/** Blames the files that were examined when a process died: those that were suspected before, or else all of them. */
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

export function standingOf(
  suspect: Suspect | undefined,
  moment: Moment,
  work: keyof typeof MOST_DEATHS = "short",
): Standing {
  if (!suspect) return "clear";
  const isSetAside = suspect.deaths >= MOST_DEATHS[work] || suspect.cuts >= MOST_CUTS;
  return isSetAside && !isRetryDue(suspect, moment) ? "setAside" : "suspect";
}

/** A retry is due a day later: by the uptime, which cannot be set, or by the wall clock where the machine was off since. */
function isRetryDue({ atNs, uptimeMs, bootId }: Suspect, moment: Moment): boolean {
  if (moment.runningMs >= RETRY_MS) return true;
  if (bootId === moment.bootId) return moment.uptimeMs - uptimeMs >= RETRY_MS;
  return moment.nowNs - BigInt(atNs) >= BigInt(RETRY_MS) * 1_000_000n;
}

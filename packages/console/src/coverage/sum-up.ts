import { bulkLimits, type CoverageGrid, MAX_SELECTED_DEVICES } from "@downlink/protocol";
import { STATE_WORDS } from "../timeline/state-words.ts";
import type { Span } from "../timeline/view.ts";
import type { Shown } from "./shown.ts";

export type DeviceSums = CoverageGrid["devices"][number];

/** The widest bin in nanoseconds that a number holds exactly: 104 days. */
const MOST_BIN_NS = 2n ** 53n - 1n;

/** Returns as few bins as cover a span: their sums are asked for. */
export function binsOf({ startNs, endNs }: Span): { start: bigint; binNs: number; bins: number } {
  const lengthNs = endNs > startNs ? endNs - startNs : 1n;
  const bins = (lengthNs + MOST_BIN_NS - 1n) / MOST_BIN_NS;
  return { start: startNs, binNs: Number((lengthNs + bins - 1n) / bins), bins: Number(bins) };
}

const STATES = ["imported", "onItsWay", "edgeOnly", "failed"] as const;
export type RecordedState = (typeof STATES)[number];

/** The states of recordings whose data is not here, and is not on its way, by their import status. */
const WANTED = { none: "edgeOnly", failed: "failed" } as const;

/** Returns the import statuses of recordings that are shown and could be imported. */
export function wantedStatuses(shown: Shown): (keyof typeof WANTED)[] {
  return (["none", "failed"] as const).filter((status) => shown.has(WANTED[status]));
}

/** Returns the sums of several devices, by state, of those states that there are. */
export function addUp(
  given: readonly DeviceSums[],
): { state: RecordedState; text: string; recordings: number; bytes: number }[] {
  const all = STATES.map((state) => ({ state, text: STATE_WORDS[state], ...sumOf(given, [state]) }));
  return all.filter(({ recordings }) => recordings > 0);
}

function sumOf(given: readonly DeviceSums[], states: readonly (typeof STATES)[number][]) {
  const all = given.flatMap((device) => states.map((state) => device[state]));
  return {
    recordings: all.reduce((sum, { recordings }) => sum + recordings, 0),
    bytes: all.reduce((sum, { bytes }) => sum + Number(bytes), 0),
  };
}

/** Returns how many recordings of those shown could be imported, and their bytes. */
export function wantedOf(given: readonly DeviceSums[], shown: Shown): { count: number; bytes: number } {
  const { recordings, bytes } = sumOf(
    given,
    wantedStatuses(shown).map((status) => WANTED[status]),
  );
  return { count: recordings, bytes };
}

/** Splits devices for calls that request imports, so that no call names more devices, or matches more recordings, than one may. */
export function packDevices(given: readonly DeviceSums[], shown: Shown): string[][] {
  const calls: string[][] = [];
  let room = 0;
  for (const sums of given) {
    const { count } = wantedOf([sums], shown);
    if (count === 0) continue;
    if (count > room || calls.at(-1)!.length === MAX_SELECTED_DEVICES) {
      calls.push([]);
      room = bulkLimits.matches;
    }
    calls.at(-1)!.push(sums.id);
    room -= count;
  }
  return calls;
}

/** Formats a share as `71 %`; a small share is never 0 %, and an incomplete one never 100 %. */
export function formatShare(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0 %";
  const percent = (part / whole) * 100;
  if (percent < 1) return "< 1 %";
  return percent > 99 && percent < 99.95 ? "> 99 %" : `${Math.round(percent)} %`;
}

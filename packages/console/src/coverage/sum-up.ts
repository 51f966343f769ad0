import type { CoverageGrid } from "@downlink/protocol";
import type { Span } from "../timeline/view.ts";

export type DeviceSums = CoverageGrid["devices"][number];

/** The widest bin in nanoseconds that a number holds exactly: 104 days. */
const MOST_BIN_NS = 2n ** 53n - 1n;

/** Returns as few bins as cover a span: their sums are asked for. */
export function binsOf({ startNs, endNs }: Span): { start: bigint; binNs: number; bins: number } {
  const lengthNs = endNs > startNs ? endNs - startNs : 1n;
  const bins = (lengthNs + MOST_BIN_NS - 1n) / MOST_BIN_NS;
  return { start: startNs, binNs: Number((lengthNs + bins - 1n) / bins), bins: Number(bins) };
}

const STATES = [
  ["failed", "failed"],
  ["onItsWay", "on its way"],
  ["edgeOnly", "on the device only"],
  ["imported", "imported"],
] as const;

/** Returns the sums of several devices, by state, of those states that there are. */
export function addUp(
  given: readonly DeviceSums[],
): { text: string; recordings: number; bytes: number; wanted: number }[] {
  return STATES.map(([state, text]) => {
    const recordings = given.reduce((sum, device) => sum + device[state].recordings, 0);
    const bytes = given.reduce((sum, device) => sum + Number(device[state].bytes), 0);
    return { text, recordings, bytes, wanted: state === "failed" || state === "edgeOnly" ? recordings : 0 };
  }).filter(({ recordings }) => recordings > 0);
}

/** Formats a share as `71 %`; a small share is never 0 %, and an incomplete one never 100 %. */
export function formatShare(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0 %";
  const percent = (part / whole) * 100;
  if (percent < 1) return "< 1 %";
  return percent > 99 && percent < 99.95 ? "> 99 %" : `${Math.round(percent)} %`;
}

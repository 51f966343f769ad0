import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";

/** The times of runs and of their reference, which ran by turns, in seconds. */
export interface Compared {
  readonly name: string;
  readonly reference: string;
  readonly seconds: readonly number[];
  readonly referenceSeconds: readonly number[];
  /** The ratio of the times: the reference's to this one's ("at least") or this one's to the reference's ("at most"). */
  readonly target: { readonly least: number } | { readonly most: number };
}

/** Runs both by turns, so that other load of the machine affects both. The first run of each is not counted. */
export async function compare(
  runs: number,
  about: Pick<Compared, "name" | "reference" | "target">,
  { measured, referred }: { measured: () => Promise<number>; referred: () => Promise<number> },
): Promise<Compared> {
  const [seconds, referenceSeconds]: [number[], number[]] = [[], []];
  for (let run = 0; run <= runs; run += 1) {
    seconds.push(await measured());
    referenceSeconds.push(await referred());
  }
  return { ...about, seconds: seconds.slice(1), referenceSeconds: referenceSeconds.slice(1) };
}

/** `!` marks what misses its target. */
export function reportCompared(all: readonly Compared[]): void {
  const table = makeTable([
    "",
    "s: median",
    "least",
    "beside",
    "s: median",
    "least",
    "ratio",
    "of the fastest",
    "target",
  ]);
  for (const { name, reference, seconds, referenceSeconds, target } of all) {
    const isSpeed = "least" in target;
    const ratio = isSpeed ? median(referenceSeconds) / median(seconds) : median(seconds) / median(referenceSeconds);
    const fastest = isSpeed
      ? Math.min(...referenceSeconds) / Math.min(...seconds)
      : Math.min(...seconds) / Math.min(...referenceSeconds);
    const isMissed = isSpeed ? ratio < target.least : ratio > target.most;
    table.push([
      name,
      median(seconds).toFixed(3),
      Math.min(...seconds).toFixed(3),
      reference,
      median(referenceSeconds).toFixed(3),
      Math.min(...referenceSeconds).toFixed(3),
      ratio.toFixed(2) + (isMissed ? " !" : ""),
      fastest.toFixed(2),
      isSpeed ? `≥ ${target.least}` : `≤ ${target.most}`,
    ]);
  }
  say(table.toString());
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

export interface Gap {
  readonly startNs: number;
  readonly endNs: number;
}

/** A topic is silent where its next message comes after more than this many times the usual step. */
const TIMES_THE_USUAL = 3;

/** Returns where a topic was silent. Messages with the same time, as in bursts, do not count for the usual step. */
export function findGaps(timesNs: readonly number[]): Gap[] {
  const usualNs = usualStep(timesNs);
  if (usualNs === undefined) return [];
  return timesNs.flatMap((endNs, index) => {
    const startNs = timesNs[index - 1];
    return startNs !== undefined && endNs - startNs > TIMES_THE_USUAL * usualNs ? [{ startNs, endNs }] : [];
  });
}

/** Returns the median of the times between two messages. */
function usualStep(timesNs: readonly number[]): number | undefined {
  const steps: number[] = [];
  for (let index = 1; index < timesNs.length; index += 1) {
    const step = timesNs[index]! - timesNs[index - 1]!;
    if (step > 0) steps.push(step);
  }
  return steps.length < 2 ? undefined : steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)];
}

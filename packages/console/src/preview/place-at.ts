import type { OpenedTopic } from "./requests.ts";

/** Returns the place of the last of some things in order of time that is not after the moment; -1 where all are. */
export function placeAt<T>(sorted: readonly T[], timeNs: number, timeOf: (one: T) => number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (timeOf(sorted[middle]!) <= timeNs) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

/** Returns the time of the message to show, so that it is asked for once, and not with each step of the moment. */
export function timeToShow({ timesNs, messageCount }: OpenedTopic, cursorNs: number): number {
  if (timesNs.length < messageCount) return cursorNs;
  return timesNs[Math.max(0, placeAt(timesNs, cursorNs, Number))]!;
}

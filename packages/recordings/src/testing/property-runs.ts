import { runsSlowTests } from "./slow-test.ts";

const QUICK_SHARE = 40;

/**
 * How many random cases a property is tried with: all where the slow tests run, too, and one in 40 in `npm test`, whose every run
 * takes others.
 */
export function propertyRuns(whole: number): number {
  return runsSlowTests() ? whole : Math.ceil(whole / QUICK_SHARE);
}

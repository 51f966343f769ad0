/** The run of all tests sets it, that of the long ones too. */
export const WHOLE_PROPERTIES_VARIABLE = "DOWNLINK_WHOLE_PROPERTIES";

const QUICK_SHARE = 8;

/**
 * How many random cases a property is tried with: all where the long tests run, too, and an eighth of them in `npm test`, whose every run
 * takes others.
 */
export function propertyRuns(whole: number): number {
  return process.env[WHOLE_PROPERTIES_VARIABLE] ? whole : Math.ceil(whole / QUICK_SHARE);
}

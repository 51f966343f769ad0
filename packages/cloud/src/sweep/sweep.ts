// A whole object that no row ever named is kept unless `--include-unknown` says otherwise. Rows stand before bytes,
// so it means that the database is older than the store: it was restored from a backup, and the object may have been
// acknowledged. (A crash between an extension's package and its row looks the same, and is rare.)
//
// Nothing that becomes wanted is removed: a page of the listing is judged in one statement, and each leftover once
// more under its upload's lock, which is then `removed`; no delivery can take it from there. The object goes after
// that commit.

import { findMissing } from "./find-missing.ts";
import { type Finding, type SweepDeps, type SweepOptions, sweepObjects } from "./sweep-objects.ts";

const HOUR_MS = 3_600_000;
/** A week: unattended, nobody is in a hurry. */
export const DEFAULT_AGE_HOURS = 168;
/** An upload link lives for 24 hours, and the upload that begins in its last one may take as long again. */
export const MIN_AGE_HOURS = 48;

interface Options {
  readonly isDryRun: boolean;
  readonly olderThanHours: number;
  readonly includesUnknown: boolean;
  readonly nowMs: number;
}

/** Everything that is in the store and should not be, and removes it; then everything that should be and is not. */
export async function* sweep(
  deps: SweepDeps,
  { olderThanHours, nowMs, ...options }: Options,
): AsyncGenerator<Finding, void> {
  const swept: SweepOptions = { ...options, cutoffMs: nowMs - olderThanHours * HOUR_MS };
  yield* sweepObjects(deps, swept);
  yield* findMissing(deps);
}

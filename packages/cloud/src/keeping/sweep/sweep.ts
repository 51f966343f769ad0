// A whole object that no row ever named is kept unless `--include-unknown` is given (`judge-object.ts`). Nothing that becomes wanted is
// removed: a page of the listing is judged in one statement, and each leftover once more under its upload's lock; no delivery can use an
// upload that is then `removed`. The object is removed after that commit, then its manifests.

import { withTransaction } from "../../db/transaction.ts";
import { requireRemovable } from "../../recovery/held-deployment.ts";
import { findMissing } from "./find-missing.ts";
import { sweepManifests } from "./sweep-manifests.ts";
import { type Finding, type SweepDeps, type SweepOptions, sweepObjects } from "./sweep-objects.ts";

const HOUR_MS = 3_600_000;
/** A week: without an operator there is no hurry. */
export const DEFAULT_AGE_HOURS = 168;
/** An upload link lives for 24 hours, and the upload that begins in its last one may take as long again. */
export const MIN_AGE_HOURS = 48;

interface SweepRequest {
  readonly isDryRun: boolean;
  readonly olderThanHours: number;
  readonly includesUnknown: boolean;
  readonly nowMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Finds everything that is in the store and should not be, and removes it; then finds everything that should be there and is not. Throws a
 * NotSafeError while nothing may be destroyed.
 */
export async function* sweep(
  deps: SweepDeps,
  { olderThanHours, nowMs, ...options }: SweepRequest,
): AsyncGenerator<Finding, void> {
  const cutoffMs = Math.floor(nowMs - olderThanHours * HOUR_MS);
  const swept: SweepOptions = { ...options, cutoffMs };
  if (!options.isDryRun) await withTransaction(deps.db, requireRemovable);
  yield* sweepObjects(deps, swept);
  yield* sweepManifests(deps, swept);
  yield* findMissing(deps, options.signal);
}

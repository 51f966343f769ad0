// Checks whether the database and the object store agree, beside a running deployment. The listing and the rows are read at different
// moments, so that every mismatch is checked again before it is reported. Memory does not grow with the store, because the listing is kept
// in a temporary table (`listed-objects.ts`).

import type { Database } from "../../db/client.ts";
import type { MarkDeps } from "../../import-life/mark-damaged.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Finding } from "./finding.ts";
import { keepListing, openSession } from "./listed-objects.ts";
import { findWrongManifests } from "./manifest-checks.ts";
import { findMissingObjects, findMixedUp, findUnheldObjects } from "./object-checks.ts";
import { createPromised } from "./promised-objects.ts";
import { findAlteredObjects } from "./read-objects.ts";
import { findWrongRows } from "./row-checks.ts";

export interface CheckDeps extends MarkDeps {
  readonly db: Pick<Database, "prisma" | "pool">;
  readonly blobs: Pick<BlobStore, "check" | "getNote" | "list" | "listNotes" | "open" | "putNote" | "stat">;
}

export interface CheckOptions {
  /** How many of the objects, and of the manifests, in per cent, are read again and compared with the rows. */
  readonly readPercent: number;
  /** Whatever can be repaired without a loss is repaired. */
  readonly isRepairing: boolean;
  readonly nowMs: number;
}

/** Yields everything that does not agree. Rejects if it could not look, because nothing is known about a store that does not answer. */
export async function* checkDeployment(deps: CheckDeps, options: CheckOptions): AsyncGenerator<Finding, void> {
  const fault = await deps.blobs.check();
  if (fault !== undefined) throw new Error(fault);
  await using session = await openSession(deps.db.pool);
  await createPromised(session);
  await keepListing(session, deps.blobs.list(""));
  const { nowMs, isRepairing, readPercent } = options;
  const check = { session, db: deps.db, blobs: deps.blobs, nowMs, isRepairing, mark: deps };
  yield* findMissingObjects(check);
  yield* findUnheldObjects(check);
  yield* findMixedUp(check);
  yield* findWrongManifests({ ...check, readPercent });
  yield* findWrongRows(session, isRepairing ? deps.db : undefined);
  if (readPercent > 0) yield* findAlteredObjects({ ...deps, session, percent: readPercent });
}

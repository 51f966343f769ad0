// The walk makes database and object store agree again after either was set back. It is one job that any worker may continue if another one
// died: its findings are in tables, each step commits by itself, and a repeated step changes nothing. Memory is bounded by a page. Uploads
// are handled by their ids, which sort by time, so that of two with the same content the older one is the recording, as it was before.

import { withSmallHeap } from "../../core/heap-growth.ts";
import type { AdoptionModel } from "../../db/generated/models.ts";
import { startHeartbeat } from "../../imports/ingest/attempt.ts";
import { TakenOverError } from "../../imports/ingest/finish-import.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";
import { findMissing, isTooMuchMissing, markMissing } from "./find-missing.ts";
import { listFound } from "./list-found.ts";
import { endPass, letGoOfWalk, showWalk, takeWalk, type Walk, WalkTakenError } from "./progress.ts";
import { walkImported, walkRest } from "./walk-found.ts";

export interface WalkDeps extends AdoptionDeps {
  /** Deletes and revokes again what was deleted and revoked since the backup. It may be repeated. */
  readonly replayLedger: (signal: AbortSignal) => Promise<void>;
}

/** Continues the walk of a recovering deployment to its end, or until an operator has to answer. Does nothing in any other deployment. */
export async function walkStore(deps: WalkDeps, signal: AbortSignal): Promise<void> {
  const walk = await takeWalk(deps);
  if (!walk) return;
  const heart = startHeartbeat(deps, "the walk through the object store", (nowNs) => showWalk(deps, walk, nowNs));
  try {
    await withSmallHeap(() => goOn(deps, walk, AbortSignal.any([signal, heart.stopped])));
  } catch (error) {
    if (error instanceof WalkTakenError || error instanceof TakenOverError) return;
    await letGoOfWalk(deps, walk);
    throw error;
  } finally {
    heart.stop();
  }
}

async function goOn(deps: WalkDeps, taken: Walk, signal: AbortSignal): Promise<void> {
  for (let walk = taken; ; ) {
    deps.log.info({ pass: walk.pass }, "looking through the object store");
    switch (walk.pass) {
      case "ledger":
        await deps.replayLedger(signal);
        break;
      case "listing":
        await listFound(deps, signal);
        break;
      case "imported":
        await walkImported(deps, walk, signal);
        break;
      case "rest":
        await walkRest(deps, walk, signal);
        break;
      case "rows":
        await findMissing(deps, walk, signal);
        break;
      case "marking":
        await markMissing(deps, walk, signal);
        break;
      case "asking":
      case "over":
        return logEnd(deps, walk);
      default:
        walk.pass satisfies never;
    }
    const isTooMuch = walk.pass === "rows" && (await isTooMuchMissing(deps.db.prisma));
    walk = await endPass(deps, walk, isTooMuch ? "tooMany" : "done");
  }
}

function logEnd({ log }: WalkDeps, { pass, adopted, reopened, doubtful, looked }: AdoptionModel): void {
  const counts = { adopted, reopened, doubtful, looked };
  if (pass === "over") log.info(counts, "database and object store agree again");
  else
    log.error(counts, "so many objects are missing that the object store may be the wrong one; an admin has to look");
}

import { contextOf } from "../../background/jobs/transaction-context.ts";
import { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { askAgain, findDataAgain } from "../../import-life/lost-data.ts";
import { IS_OURS } from "../../store/blobs/object-key.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

const PAGE = 32;

interface Lost {
  readonly id: string;
  readonly blobKey: string | null;
}

/**
 * Looks for objects that were missing: an object that is back is its recording's data again; for another one the edge is asked, if it has
 * the file.
 */
export async function heal(deps: AdoptionDeps, signal: AbortSignal): Promise<void> {
  for (let lastId = ""; ; ) {
    signal.throwIfAborted();
    const page = await deps.db.prisma.$queryRaw<Lost[]>`
      SELECT id, "blobKey" FROM "Recording"
      WHERE "importStatus" <> 'complete' AND ("blobKey" IS NOT NULL OR "failureCode" = 'ObjectMissing')
        AND ("blobKey" IS NULL OR ${Prisma.raw(IS_OURS)}) AND id > ${lastId}
      ORDER BY id LIMIT ${PAGE}`;
    if (page.length === 0) return;
    const objects = await Promise.all(page.map(({ blobKey }) => blobKey && deps.blobs.stat(blobKey)));
    for (const [at, { id, blobKey }] of page.entries())
      await healOne(deps, { id, blobKey: objects[at] ? blobKey : null });
    lastId = page.at(-1)!.id;
  }
}

/** `blobKey` is the key of an object that exists. */
async function healOne(deps: AdoptionDeps, { id, blobKey }: Lost): Promise<void> {
  await withTransaction(deps.db, async (tx) => {
    const recording = await findLocked(tx, id);
    if (!recording || recording.importStatus === "complete") return;
    const context = contextOf(tx, deps);
    if (blobKey === null) await askAgain(context, recording);
    else if (recording.blobKey === blobKey) await findDataAgain(context, recording);
  });
}

/** Verifies those whose bytes were not read again yet, however their job ended. */
export async function verifyAgain({ db, jobs }: AdoptionDeps): Promise<void> {
  for (let lastId = ""; ; ) {
    const page = await db.prisma.recording.findMany({
      where: { isUnverified: true, importStatus: "complete", id: { gt: lastId } },
      select: { id: true, orgId: true },
      orderBy: { id: "asc" },
      take: PAGE,
    });
    if (page.length === 0) return;
    await withTransaction(db, async (tx) => {
      for (const { id, orgId } of page) await jobs.enqueueIndexing(tx, orgId, [id]);
    });
    lastId = page.at(-1)!.id;
  }
}

import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { IS_OURS } from "../../db/stored-data.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { askAgain, findDataAgain, storedFaults } from "../../import-life/lost-data.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

const PAGE = 32;

type Lost = Pick<RecordingModel, "id" | "orgId" | "blobKey" | "sizeBytes" | "storedDamage">;

/**
 * Looks for data that was lost: an object that is back is its recording's data again, and one that was damaged and has its size is read
 * again. Where the data is not there, the edge is asked, if it has the file. An object with other bytes is not read again by itself, because
 * it may be large and stay as it is.
 */
export async function heal(deps: AdoptionDeps, signal: AbortSignal): Promise<void> {
  for (let lastId = ""; ; ) {
    signal.throwIfAborted();
    const page = await deps.db.prisma.$queryRaw<Lost[]>`
      SELECT id, "orgId", "blobKey", "sizeBytes", "storedDamage" FROM "Recording"
      WHERE ("storedDamage" IS NOT NULL OR ("importStatus" <> 'complete' AND ("blobKey" IS NOT NULL OR "failureCode" = ${storedFaults.missing.code})))
        AND ("blobKey" IS NULL OR ${IS_OURS}) AND id > ${lastId}
      ORDER BY id LIMIT ${PAGE}`;
    if (page.length === 0) return;
    const objects = await Promise.all(page.map(({ blobKey }) => blobKey && deps.blobs.stat(blobKey)));
    for (const [at, lost] of page.entries()) {
      const object = objects[at];
      const isThere = object ? BigInt(object.sizeBytes) === lost.sizeBytes : false;
      await healOne(deps, lost, isThere);
    }
    lastId = page.at(-1)!.id;
  }
}

async function healOne(
  deps: AdoptionDeps,
  { id, orgId, blobKey, storedDamage }: Lost,
  isThere: boolean,
): Promise<void> {
  await withTransaction(deps.db, async (tx) => {
    const recording = await findLocked(tx, id);
    if (!recording) return;
    const context = contextOf(tx, deps);
    const isConfirmed = recording.importStatus !== "complete";
    const isBack = isThere && recording.blobKey === blobKey;
    if (isBack && (storedDamage === null || storedDamage === "missing")) return findDataAgain(context, recording);
    if (!isConfirmed || (isBack && storedDamage === "truncated")) await deps.jobs.enqueueReading(tx, orgId, [id]);
    if (isConfirmed) await askAgain(context, recording);
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

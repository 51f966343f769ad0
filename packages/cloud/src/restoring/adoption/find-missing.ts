import { contextOf } from "../../background/jobs/transaction-context.ts";
import { pacePages } from "../../core/pace.ts";
import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { loseData, storedFaults } from "../../import-life/lost-data.ts";
import { ofOurStore } from "../../store/blobs/object-key.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";
import { noteStep, type Walk } from "./progress.ts";

const PAGE = 500;
/** How many objects are looked up in the store at once. */
const AT_ONCE = 32;

/** Stores which recordings have lost their objects, according to the store. A store that does not answer proves nothing. */
export async function findMissing(deps: AdoptionDeps, walk: Walk, signal: AbortSignal): Promise<void> {
  for await (const page of pacePages(lookUpAll(deps, walk.doneUntil), signal)) {
    signal.throwIfAborted();
    await writeDown(
      deps,
      page.filter(({ isThere }) => !isThere),
    );
    await noteStep(deps, walk, { doneUntil: page.at(-1)!.id, counts: { looked: page.length } });
  }
}

/** Yields the recordings that have data, a page at a time, and whether the store has their objects. */
async function* lookUpAll({ db, blobs }: AdoptionDeps, doneUntil: string) {
  for (let after = doneUntil; ; ) {
    const page = await db.prisma.recording.findMany({
      where: { importStatus: "complete", ...ofOurStore, id: { gt: after } },
      select: { id: true, blobKey: true },
      orderBy: { id: "asc" },
      take: PAGE,
    });
    if (page.length === 0) return;
    yield await runSomeAtOnce(page, AT_ONCE, async ({ id, blobKey }) => {
      const isThere = (await blobs.stat(blobKey!)) !== undefined;
      return { id, blobKey, isThere };
    });
    after = page.at(-1)!.id;
  }
}

async function writeDown(
  deps: AdoptionDeps,
  missing: readonly Pick<RecordingModel, "id" | "blobKey">[],
): Promise<void> {
  if (missing.length === 0) return;
  await requireAnswering(deps);
  const data = missing.map(({ id, blobKey }) => ({ recordingId: id, blobKey: blobKey! }));
  await deps.db.prisma.missingObject.createMany({ data, skipDuplicates: true });
}

/** A store that was unmounted has no objects either. */
export async function requireAnswering({ blobs }: Pick<AdoptionDeps, "blobs">): Promise<void> {
  const fault = await blobs.check();
  if (fault !== undefined) throw new Error(fault);
}

const MOST_MISSING = 1000;
/** Fewer missing recordings than this are never too many, because one in a hundred of few recordings is less than one. */
const FEW_MISSING = 10;

/** So much is missing that the store may be the wrong one, and nothing should happen before an admin has looked. */
export async function isTooMuchMissing(db: Pick<Transaction, "missingObject" | "adoption">): Promise<boolean> {
  const missing = await db.missingObject.count();
  const { looked } = await db.adoption.findUniqueOrThrow({ where: { id: 1 } });
  return missing > MOST_MISSING || missing > Math.max(FEW_MISSING, looked / 100);
}

/** Marks recordings whose data is missing, unless it came back meanwhile. */
export async function markMissing(deps: AdoptionDeps, walk: Walk, signal: AbortSignal): Promise<void> {
  const { db, blobs, log } = deps;
  for (let { doneUntil } = walk; ; ) {
    signal.throwIfAborted();
    const where = { recordingId: { gt: doneUntil } };
    const page = await db.prisma.missingObject.findMany({ where, orderBy: { recordingId: "asc" }, take: PAGE });
    if (page.length === 0) return;
    await requireAnswering(deps);
    for (const { recordingId, blobKey } of page) {
      if (await blobs.stat(blobKey)) continue;
      const isLost = await withTransaction(db, (tx) =>
        loseData(contextOf(tx, deps), { recordingId, blobKey }, storedFaults.missing),
      );
      if (isLost) log.error({ recordingId, blobKey }, "the object store does not have the data of a recording");
    }
    doneUntil = page.at(-1)!.recordingId;
    await noteStep(deps, walk, { doneUntil });
  }
}

import type { Deps } from "../context.ts";
import { withTransaction } from "../db/transaction.ts";
import { storeDelivery } from "./delivery.ts";
import { workingStates } from "./import-request-state.ts";

const SILENT_NS = 120n * 1_000_000_000n; // eight lost heartbeats
const ABANDONED_NS = 600n * 1_000_000_000n; // grants that are out have expired by then
const BATCH = 500;

type ReconcileDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log">;

/** Nothing stays stuck: requeues what no live job owns, and finishes what a crash left between the store and the rows. */
export async function reconcile(deps: ReconcileDeps): Promise<void> {
  await requeueSilent(deps);
  await finishWhole(deps);
  await forgetAbandoned(deps);
}

async function requeueSilent({ db, jobs, clock, log }: ReconcileDeps): Promise<void> {
  const nowNs = clock.nowNs();
  const isSilent = { state: { in: [...workingStates] }, updatedAtNs: { lt: nowNs - SILENT_NS } };
  const isDue = { OR: [{ nextAttemptAtNs: null }, { nextAttemptAtNs: { lt: nowNs - SILENT_NS } }] };
  const silent = await db.prisma.importRequest.findMany({
    where: { AND: [isSilent, isDue] },
    select: { id: true },
    take: BATCH,
  });
  for (const { id } of silent) {
    await withTransaction(db, async (tx) => {
      const { count } = await tx.importRequest.updateMany({
        where: { AND: [{ id }, isSilent] },
        data: { updatedAtNs: nowNs },
      });
      if (count === 1) await jobs.enqueue(tx, "ingest", { requestId: id });
    });
    log.warn({ requestId: id }, "requeued an import that no worker owned");
  }
}

/** The parts became the object, and the process died before the row said so. */
async function finishWhole({ db, blobs, jobs, clock }: ReconcileDeps): Promise<void> {
  const nowNs = clock.nowNs();
  const announced = await db.prisma.upload.findMany({
    where: { state: "open", announcedSha256: { not: null }, request: { state: "awaiting" } },
    take: BATCH,
  });
  for (const upload of announced)
    if (await blobs.stat(upload.blobKey)) await withTransaction(db, (tx) => storeDelivery(tx, { upload, jobs, nowNs }));
}

async function forgetAbandoned({ db, blobs, clock }: ReconcileDeps): Promise<void> {
  const abandoned = await db.prisma.upload.findMany({
    where: { state: "abandoned", updatedAtNs: { lt: clock.nowNs() - ABANDONED_NS } },
    select: { id: true, blobKey: true },
    take: BATCH,
  });
  for (const { id, blobKey } of abandoned) {
    await blobs.abortUpload(blobKey);
    await db.prisma.upload.updateMany({ where: { id, state: "abandoned" }, data: { state: "removed" } });
  }
}

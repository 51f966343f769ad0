import { ingestJob } from "../../background/jobs/ingest-job.ts";
import type { Deps } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { storeDelivery } from "../../import-life/delivery.ts";
import { workingStates } from "../../import-life/import-request-state.ts";
import { removeObject } from "../../keeping/manifests/remove-object.ts";
import { holdDeployment, mayGiveUp } from "../../recovery/held-deployment.ts";
import { sweepStreams } from "./stream-uploads.ts";

const SILENT_NS = 120n * 1_000_000_000n; // many lost heartbeats
const ABANDONED_NS = 600n * 1_000_000_000n; // all granted links have expired by then
const BATCH = 500;

type ReconcileDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log">;

/** Nothing stays stuck: this queues again what no live job owns, and finishes what a crash left between the store and the rows. */
export async function reconcile(deps: ReconcileDeps): Promise<void> {
  await requeueSilent(deps);
  await requeueSalvages(deps);
  await finishWhole(deps);
  await sweepStreams(deps);
  await forgetAbandoned(deps);
}

async function requeueSilent(deps: ReconcileDeps): Promise<void> {
  const { db, jobs, log } = deps;
  const nowNs = deps.clock.nowNs();
  const isSilent = { state: { in: [...workingStates] }, updatedAtNs: { lt: nowNs - SILENT_NS }, siteObjectKey: null };
  const isDue = { OR: [{ nextAttemptAtNs: null }, { nextAttemptAtNs: { lt: nowNs - SILENT_NS } }] };
  const silent = await db.prisma.importRequest.findMany({
    where: { AND: [isSilent, isDue] },
    select: { id: true, orgId: true, sizeBytes: true },
    take: BATCH,
  });
  await attend(deps, silent, async ({ id, orgId, sizeBytes }) => {
    await withTransaction(db, async (tx) => {
      const { count } = await tx.importRequest.updateMany({
        where: { AND: [{ id }, isSilent] },
        data: { updatedAtNs: nowNs, nextAttemptAtNs: nowNs }, // no process works on it
      });
      if (count === 1) await jobs.enqueue(tx, { name: ingestJob(sizeBytes), data: { orgId, requestId: id } });
    });
    log.warn({ requestId: id }, "requeued an import that no worker owned");
  });
}

/** No file of these is stored yet; a live attempt shows itself by the row. */
async function requeueSalvages(deps: ReconcileDeps): Promise<void> {
  const { db, jobs, log } = deps;
  const nowNs = deps.clock.nowNs();
  const longAgo = { lt: nowNs - SILENT_NS };
  const isOurs = { salvageOfId: { not: null }, salvageOf: { siteObjectKey: null } }; // a site finds its own among its work
  const isSilent = { ...isOurs, state: "awaiting", updatedAtNs: longAgo } as const;
  const isDue = { OR: [{ nextAttemptAtNs: null }, { nextAttemptAtNs: longAgo }] };
  const where = { AND: [isSilent, isDue] };
  const silent = await db.prisma.importRequest.findMany({ where, select: { id: true, orgId: true }, take: BATCH });
  await attend(deps, silent, async ({ id, orgId }) => {
    await withTransaction(db, async (tx) => {
      const data = { updatedAtNs: nowNs };
      const { count } = await tx.importRequest.updateMany({ where: { AND: [{ id }, isSilent] }, data });
      if (count === 1) await jobs.enqueue(tx, { name: "salvage", data: { orgId, requestId: id } });
    });
    log.warn({ requestId: id }, "requeued a salvage that no worker owned");
  });
}

/** The parts became the object, and the process died before it wrote that into the row. */
async function finishWhole(deps: ReconcileDeps): Promise<void> {
  const { db, blobs, jobs } = deps;
  const nowNs = deps.clock.nowNs();
  const announced = await db.prisma.upload.findMany({
    where: { state: "open", announcedSha256: { not: null }, request: { state: "awaiting" } },
    take: BATCH,
  });
  await attend(deps, announced, async (upload) => {
    if (await blobs.stat(upload.blobKey)) await withTransaction(db, (tx) => storeDelivery({ tx, jobs, nowNs }, upload));
  });
}

async function forgetAbandoned(deps: ReconcileDeps): Promise<void> {
  const { db } = deps;
  const cutoffNs = deps.clock.nowNs() - ABANDONED_NS;
  if (!mayGiveUp(await withTransaction(db, holdDeployment), cutoffNs)) return;
  const abandoned = await db.prisma.upload.findMany({
    where: { state: "abandoned", updatedAtNs: { lt: cutoffNs } },
    select: { id: true, blobKey: true },
    take: BATCH,
  });
  await attend(deps, abandoned, async ({ id, blobKey }) => {
    await removeObject(deps, blobKey); // whole or not, no row may take it any more
    await db.prisma.upload.updateMany({ where: { id, state: "abandoned" }, data: { state: "removed" } });
  });
}

/** A failure is repeated in a minute, and holds up none of the others. */
async function attend<T extends { id: string }>(
  { log }: ReconcileDeps,
  rows: readonly T[],
  act: (row: T) => Promise<void>,
): Promise<void> {
  for (const row of rows) {
    try {
      await act(row);
    } catch (error) {
      log.error({ err: error, id: row.id }, "could not be reconciled");
    }
  }
}

// A damaged object is written down with its recording as soon as it is seen: by the check, an export, the sweep, or a copy to another
// store. From then on no device deletes its copy because of the stored bytes, and no export is made of them. A job reads the object again
// (`imports/ingest/read-stored.ts`).

import type { JobQueue } from "../background/jobs/queue.ts";
import { contextOf, type TransactionContext } from "../background/jobs/transaction-context.ts";
import type { Clock } from "../core/clock.ts";
import type { Database } from "../db/client.ts";
import { withTransaction } from "../db/transaction.ts";
import { findLocked } from "./lock-recording.ts";
import { noteLoss, storedFaults } from "./lost-data.ts";
import { hasPermits, noteDamageSeen, type StoredDamage } from "./stored-damage.ts";

export interface MarkDeps {
  readonly db: Pick<Database, "prisma">;
  readonly jobs: JobQueue;
  readonly clock: Clock;
}

/** Marks the recording whose data is in this object. Does nothing if no imported recording has it, or if it is marked already. */
export function markDamaged(deps: MarkDeps, blobKey: string, damage: StoredDamage): Promise<void> {
  return withTransaction(deps.db, (tx) => mark(contextOf(tx, deps), blobKey, damage));
}

/**
 * The job that reads the object again takes the mark back, or the data is lost and the device is asked for the file. Where a permit was
 * given that may not be used yet, the device is asked at once, because only that makes its agent keep the file.
 */
async function mark(context: TransactionContext, blobKey: string, storedDamage: StoredDamage): Promise<void> {
  const { tx, jobs, nowNs: damagedSinceNs } = context;
  const found = await tx.recording.findUnique({ where: { blobKey }, select: { id: true } });
  const recording = found && (await findLocked(tx, found.id));
  if (recording?.blobKey !== blobKey || recording.importStatus !== "complete" || recording.storedDamage !== null)
    return;
  const { id, orgId } = recording;
  if (await hasPermits(context, id)) await noteLoss(context, recording, storedFaults[storedDamage]);
  else {
    await tx.recording.update({ where: { id }, data: { storedDamage, damagedSinceNs } });
    await noteDamageSeen(context, [blobKey]);
  }
  await jobs.enqueue(tx, { name: "read-stored", data: { orgId, recordingId: id } });
}

/**
 * Some of these recordings have other data than was imported, and it is not known which: each is read again. Where one of them is known to be
 * damaged, nothing new was seen: a link that goes on being used does not make the whole store be read again each time.
 */
export function doubtData(deps: MarkDeps, orgId: string, recordingIds: readonly string[]): Promise<void> {
  return withTransaction(deps.db, async (tx) => {
    const where = { id: { in: [...recordingIds] } };
    const doubted = await tx.recording.findMany({ where, select: { blobKey: true, storedDamage: true } });
    if (doubted.some(({ storedDamage }) => storedDamage !== null)) return;
    await noteDamageSeen(
      contextOf(tx, deps),
      doubted.map(({ blobKey }) => blobKey),
    );
    await deps.jobs.enqueueReading(tx, orgId, recordingIds);
  });
}

// A damaged object is written down with its recording as soon as it is seen: by the check, an export, the sweep, or a copy to another store.
// From then on nothing is deleted on a device for the sake of the stored bytes, and no export is made of them. A job reads
// the object again (`imports/ingest/read-stored.ts`): it takes the mark back, or asks the device for the file.

import type { JobQueue } from "../../background/jobs/queue.ts";
import { contextOf, type Moment, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Clock } from "../../core/clock.ts";
import type { Database } from "../../db/client.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";

/**
 * - `missing` the store has no such object
 * - `truncated` it has another size than what was imported
 * - `altered` it has other bytes than what was imported, or they cannot be read
 */
export type StoredDamage = NonNullable<RecordingModel["storedDamage"]>;

export interface MarkDeps {
  readonly db: Pick<Database, "prisma">;
  readonly jobs: JobQueue;
  readonly clock: Clock;
}

/** Marks the recording whose data is in this object. Returns false if no imported recording has it, or if it is marked already. */
export function markDamaged(deps: MarkDeps, blobKey: string, damage: StoredDamage): Promise<boolean> {
  return withTransaction(deps.db, (tx) => mark(contextOf(tx, deps), blobKey, damage));
}

async function mark(context: TransactionContext, blobKey: string, damage: StoredDamage): Promise<boolean> {
  const { tx, jobs, nowNs } = context;
  const [marked] = await tx.$queryRaw<{ id: string; orgId: string }[]>`
    UPDATE "Recording" SET "storedDamage" = ${damage}, "damagedSinceNs" = ${nowNs}
    WHERE "blobKey" = ${blobKey} AND "importStatus" = 'complete' AND "storedDamage" IS NULL RETURNING id, "orgId"`;
  if (!marked) return false;
  await distrustStore(context, marked.id);
  await jobs.enqueue(tx, { name: "read-stored", data: { orgId: marked.orgId, recordingId: marked.id } });
  return true;
}

/** Some of these recordings have other data than was imported, and it is not known which: each is read again. */
export function doubtData(deps: MarkDeps, orgId: string, recordingIds: readonly string[]): Promise<void> {
  return withTransaction(deps.db, async (tx) => {
    await noteDamageSeen(contextOf(tx, deps));
    await deps.jobs.enqueueReading(tx, orgId, recordingIds);
  });
}

/** Whatever was read from the store before this moment is read again before it proves anything. */
async function noteDamageSeen({ tx, nowNs }: Moment): Promise<void> {
  await tx.$executeRaw`UPDATE "Deployment" SET "damageSeenAtNs" = ${nowNs} WHERE id = 1`;
}

/** Takes back the permits to delete the files whose content this recording has, and trusts nothing that was read from the store before. */
export async function distrustStore({ tx, nowNs }: Moment, recordingId: string): Promise<void> {
  await noteDamageSeen({ tx, nowNs });
  await tx.$executeRaw`
    UPDATE "EdgeFile" SET "permitId" = NULL, "permitExpiresAtNs" = NULL WHERE "permitId" IS NOT NULL AND "recordingId" IN (
      SELECT id FROM "Recording" WHERE id = ${recordingId} OR "duplicateOfId" = ${recordingId})`;
}

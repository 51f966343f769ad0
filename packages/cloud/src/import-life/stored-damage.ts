import type { Moment } from "../background/jobs/transaction-context.ts";
import type { RecordingModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { isOfCustomer } from "../store/blobs/object-key.ts";

/**
 * - `missing` the store has no such object
 * - `truncated` it has another size than what was imported
 * - `altered` it has other bytes than what was imported, or they cannot be read
 */
export type StoredDamage = NonNullable<RecordingModel["storedDamage"]>;

/**
 * Whatever was read from our own store before this moment is read again before it proves anything, because data under one of these keys is
 * damaged. A customer's bucket and a self-hosted site, whose recordings have no key, are other parties': what they lose casts no doubt on it.
 */
export async function noteDamageSeen({ tx, nowNs }: Moment, blobKeys: readonly (string | null)[]): Promise<void> {
  if (blobKeys.every((key) => key === null || isOfCustomer(key))) return;
  await tx.$executeRaw`UPDATE "Deployment" SET "damageSeenAtNs" = ${nowNs} WHERE id = 1`;
}

/** Says whether a device may delete a file at this moment because this recording has its content. */
export async function hasPermits({ tx, nowNs }: Moment, recordingId: string): Promise<boolean> {
  return (await tx.edgeFile.count({ where: { ...filesOf(recordingId), permitExpiresAtNs: { gt: nowNs } } })) > 0;
}

/** Takes the permits back, and returns the recordings of these files: an agent keeps a file once it is asked for it. */
export async function takeBackPermits(tx: Transaction, recordingId: string): Promise<string[]> {
  const permitted = { ...filesOf(recordingId), permitId: { not: null } };
  const files = await tx.edgeFile.findMany({ where: permitted, select: { recordingId: true } });
  await tx.edgeFile.updateMany({ where: permitted, data: { permitId: null, permitExpiresAtNs: null } });
  return files.map((file) => file.recordingId!);
}

/** Selects the file of a recording, and those that were rejected as its duplicates. */
function filesOf(recordingId: string) {
  return { recording: { OR: [{ id: recordingId }, { duplicateOfId: recordingId }] } };
}

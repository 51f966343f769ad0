import { throwNotFound } from "../core/errors.ts";
import type { Prisma } from "../db/generated/client.ts";
import type { Transaction } from "../db/transaction.ts";

export type LockedRecording = Prisma.RecordingGetPayload<{ include: { edgeFile: true } }>;

/** Import requests, deliveries and deletions of one recording lock its row, so that they run one after another. */
export async function lockRecording(tx: Transaction, id: string): Promise<LockedRecording> {
  return (await findLocked(tx, id)) ?? throwNotFound(`recording ${id}`);
}

/** Does what {@link lockRecording} does, but returns null if the recording is gone. */
export async function findLocked(tx: Transaction, id: string): Promise<LockedRecording | null> {
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ${id} FOR UPDATE`;
  return tx.recording.findUnique({ where: { id }, include: { edgeFile: true } });
}

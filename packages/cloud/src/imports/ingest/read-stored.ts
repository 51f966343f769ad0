// Stored data that is in doubt is read again, and its SHA-256 compared with that of the import: after its object was found damaged, before a
// device deletes its copy on the word of an old reading, and before an upload ends as a repeat of it.

import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { compareObject } from "../../import-life/compare-object.ts";
import { noDamage } from "../../import-life/import-status.ts";
import { findLocked, type LockedRecording } from "../../import-life/lock-recording.ts";
import { findDataAgain, loseData, storedFaults } from "../../import-life/lost-data.ts";
import type { StoredDamage } from "../../import-life/stored-damage.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";

type ReadDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log">;

interface Reading {
  readonly recordingId: string;
  readonly signal: AbortSignal;
}

/** Returns what is wrong with the stored data of a recording; undefined if nothing is, or if it has none in our own store. */
export async function readStored(deps: ReadDeps, { recordingId, signal }: Reading): Promise<StoredDamage | undefined> {
  const recording = await deps.db.prisma.recording.findUnique({ where: { id: recordingId } });
  const expected = recording && expectedOf(recording);
  if (!expected) return undefined;
  const beganNs = deps.clock.nowNs();
  const damage = (await compareObject(deps.blobs, expected, signal))?.damage;
  if (damage === "missing" && (await isStoreInDoubt(deps))) {
    deps.log.error({ recordingId }, "so many objects are missing that the object store may be the wrong one");
    return damage;
  }
  await withTransaction(deps.db, async (tx) => {
    const locked = await findLocked(tx, recordingId);
    const blobKey = expected.key;
    if (locked?.blobKey !== blobKey) return;
    const context = contextOf(tx, deps);
    if (damage === undefined) await noteWhole(context, locked, beganNs);
    else await loseData(context, { recordingId, blobKey }, storedFaults[damage]);
  });
  if (damage !== undefined)
    deps.log.error({ recordingId, blobKey: recording.blobKey, damage }, "the stored data of a recording is damaged");
  return damage;
}

/** Returns undefined if there is nothing to compare: a customer may change what lies in the customer's bucket. */
function expectedOf({ blobKey: key, sizeBytes, contentSha256: sha256, importStatus, storedDamage }: RecordingModel) {
  if (key === null || isOfCustomer(key) || sha256 === null) return undefined;
  return importStatus === "complete" || storedDamage !== null ? { key, sizeBytes, sha256 } : undefined;
}

/** So few may be missing in any store; more than one in a hundred, or more than a thousand, may be missing because it is not mounted. */
const FEW_MISSING = 10;
const MANY_MISSING = 1000;

async function isStoreInDoubt({ db, blobs }: Pick<ReadDeps, "db" | "blobs">): Promise<boolean> {
  const fault = await blobs.check();
  if (fault !== undefined) throw new Error(fault);
  const missing = await db.prisma.recording.count({ where: { storedDamage: "missing" } });
  if (missing <= FEW_MISSING) return false;
  const imported = await db.prisma.recording.count({ where: { importStatus: "complete" } });
  return missing > MANY_MISSING || missing > imported / 100;
}

/** A sign of damage that came while the data was read is stronger: the job that it queued reads once more. */
async function noteWhole(context: TransactionContext, recording: LockedRecording, beganNs: bigint): Promise<void> {
  const { id, damagedSinceNs, importStatus } = recording;
  if (damagedSinceNs !== null && damagedSinceNs > beganNs) return;
  await context.tx.recording.update({ where: { id }, data: { verifiedAtNs: beganNs, ...noDamage } });
  if (importStatus !== "complete") await findDataAgain(context, recording);
}

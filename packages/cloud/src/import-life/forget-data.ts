import type { Prisma } from "../db/generated/client.ts";
import type { EdgeFileModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import type { TransactionContext } from "../jobs/transaction-context.ts";
import { cancelRequests } from "./change-request.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { nextImportStatus, noFailure } from "./import-status.ts";
import type { LockedRecording } from "./lock-recording.ts";
import { publishRecording } from "./recording-events.ts";

/**
 * Drops what was imported, and the row too where no edge copy is left. The object goes after the commit, by a job. Copies that were
 * rejected as duplicates of it are at the edge again as if nobody had asked for them: what they were said to be is not there any more.
 */
export async function forgetData(context: TransactionContext, recording: LockedRecording): Promise<void> {
  const { tx, jobs, nowNs } = context;
  const { id, blobKey, importId } = recording;
  const ended = await findEnd(tx, recording);
  await cancelRequests(context, [id]);
  for (const key of [blobKey, recording.indexKey, recording.nextIndexKey])
    if (key) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: key } });
  if (importId) await tx.import.updateMany({ where: { id: importId }, data: { deletedAtNs: nowNs } });
  for (const copy of await lockDuplicates(tx, id)) await forgetData(context, copy);
  const edgeFile = edgeCopyOf(recording, nowNs);
  const hasEdgeCopy = edgeFile !== null;
  const next = nextImportStatus(recording.importStatus, "deleteData", hasEdgeCopy);
  if (next === "removed") {
    await publishRecording(tx, id, { type: "recording.deleted", occurredAtNs: nowNs });
    await tx.recording.delete({ where: { id } });
    return;
  }
  const cleared = {
    importStatus: next,
    importId: null,
    importedAtNs: null,
    siteId: null,
    contentSha256: null,
    blobKey: null,
    indexKey: null,
    nextIndexKey: null,
    damage: null,
  };
  await tx.recording.update({ where: { id }, data: { ...cleared, ...noFailure } });
  if (ended && edgeFile) await takeBack(tx, ended, edgeFile);
  await tx.recordingAttachment.updateMany({ where: { recordingId: id }, data: { siteId: null } });
  await tx.recordingTopic.updateMany({ where: { recordingId: id }, data: unlisted });
}

/** The request by which the agent knows how the import ended. */
async function findEnd(tx: Transaction, { id: recordingId, importStatus }: LockedRecording) {
  if (importStatus !== "complete" && importStatus !== "failed") return null;
  const where: Prisma.ImportRequestWhereInput = { recordingId, source: "edge", state: { in: ["complete", "error"] } };
  return tx.importRequest.findFirst({ where, orderBy: { createdAtNs: "desc" }, select: { id: true } });
}

/** The agent is told that this end counts no more. It may name the file anew by now. */
async function takeBack(tx: Transaction, { id }: { id: string }, { versionId, agentId }: EdgeFileModel): Promise<void> {
  await tx.importRequest.update({ where: { id }, data: { isAcknowledged: false, isOver: true, versionId, agentId } });
}

/** Who locks them in another order at this moment is repeated by `withTransaction`. */
async function lockDuplicates(tx: Transaction, originalId: string): Promise<LockedRecording[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Recording" WHERE "duplicateOfId" = ${originalId} ORDER BY id FOR UPDATE`;
  return tx.recording.findMany({ where: { id: { in: rows.map(({ id }) => id) } }, include: { edgeFile: true } });
}

/** Lists of topics show those of imported recordings alone. */
const unlisted = { importedProjectId: null, importedDeviceId: null, importedStartNs: null, importedEndNs: null };

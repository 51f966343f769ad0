import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { cancelRequests, changeRequest } from "../../import-life/change-request.ts";
import { nextImportStatus, noDamage, noFailure } from "../../import-life/import-status.ts";
import type { LockedRecording } from "../../import-life/lock-recording.ts";
import { decideOn, takeTurnOf } from "../../imports/ingest/finish-import.ts";
import type { Imported } from "../../keeping/manifests/manifest.ts";
import { findOwners, type Owners } from "./find-owners.ts";
import { findRecording } from "./find-recording.ts";
import { restoreRecording, restoreRequest, restoreUpload } from "./restore-rows.ts";

/** The parts of the control plane that the walk uses. */
export type AdoptionDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log">;

/** A manifest whose object exists and has the size that the manifest names. */
export interface FoundImport {
  readonly manifest: Imported;
  /** The verified index exists, too. */
  readonly hasIndex: boolean;
}

/**
 * - `adopted`: its recording is complete again.
 * - `known`: its recording has this data, or other data in its place.
 * - `ended`: the database knows that it was abandoned or deleted.
 * - `undecided`: another recording has its key or its content, so it becomes a waiting import, which ends like any other.
 * - `homeless`: its organization does not exist here.
 */
export type AdoptionOutcome = "adopted" | "known" | "ended" | "undecided" | "homeless";

/** Makes an object the recording that it was, by the same decision as any import. It may be repeated. */
export async function adoptImported(deps: AdoptionDeps, found: FoundImport): Promise<AdoptionOutcome> {
  const { manifest } = found;
  return withTransaction(deps.db, async (tx) => {
    const context = contextOf(tx, deps);
    const recording = await findRecording(tx, manifest);
    await takeTurnOf(tx, manifest.orgId);
    if (await hasEnded(tx, manifest, recording)) return "ended";
    if (recording && (await hasData(deps, recording, manifest))) return "known";
    const owners = await findOwners(tx, manifest, context.nowNs);
    if (!owners) return "homeless";
    if ((await decide(tx, manifest, owners)).kind !== "new") return "undecided";
    const row = recording ?? (await restoreRecording(tx, manifest, owners));
    await adopt(context, { ...found, owners, row });
    return "adopted";
  });
}

/** Returns whether the database knows more about the upload than its manifests do: that it was abandoned, or its data deleted. */
async function hasEnded(tx: Transaction, { uploadId: id, orgId }: Imported, recording: LockedRecording | undefined) {
  const upload = await tx.upload.findUnique({ where: { id }, include: { request: true } });
  if (upload?.state === "abandoned" || upload?.state === "removed") return true;
  const isOver = upload?.state === "stored" && ["complete", "cancelled"].includes(upload.request.state);
  return isOver && recording?.blobKey !== `${orgId}/${id}`;
}

/** Returns whether the recording has data. Data in another object counts only if that object exists. */
async function hasData({ blobs }: AdoptionDeps, { importStatus, blobKey }: LockedRecording, manifest: Imported) {
  if (importStatus !== "complete" || blobKey === null) return false;
  return blobKey === `${manifest.orgId}/${manifest.uploadId}` || (await blobs.stat(blobKey)) !== undefined;
}

function decide(tx: Transaction, { recordingId, orgId, source, sha256, key }: Imported, owners: Owners) {
  const content = { request: { orgId, recordingId, source }, contentSha256: sha256 };
  return decideOn(tx, content, { projectId: owners.projectId, device: owners.device, key });
}

interface Adoption extends FoundImport {
  readonly owners: Owners;
  readonly row: LockedRecording;
}

/** Completes the recording. If its row exists, what users changed in it (session, key, path) is kept. */
async function adopt(context: TransactionContext, { manifest, hasIndex, owners, row }: Adoption): Promise<void> {
  const { tx, jobs, nowNs } = context;
  const { orgId, uploadId, sha256: contentSha256, startNs, endNs, importId, importedAtNs } = manifest;
  const { format, messageCount, sizeBytes } = manifest;
  const data: Prisma.RecordingUncheckedUpdateInput = {
    ...{ sizeBytes, startNs, endNs, durationNs: endNs - startNs, format, messageCount },
    ...{ importStatus: nextImportStatus(row.importStatus, "adopted", row.edgeFile !== null), ...noFailure },
    ...{ sessionId: row.sessionId ?? owners.session?.id, key: row.key ?? manifest.key, siteId: owners.siteId },
    ...{ importId, importedAtNs, contentSha256, isUnverified: true, foundAgainAtNs: context.nowNs },
    ...{ verifiedAtNs: null, ...noDamage },
    ...{ blobKey: `${orgId}/${uploadId}`, indexKey: hasIndex ? manifest.indexKey : null, nextIndexKey: null },
  };
  await tx.recording.update({ where: { id: row.id }, data });
  await endRequest(context, { manifest, owners, row });
  await keepImport(tx, { manifest, owners, row });
  await linkFile(tx, { manifest, row });
  await jobs.enqueueIndexing(tx, orgId, [row.id]);
  await tx.project.update({ where: { id: row.projectId }, data: { lastSeenAtNs: nowNs } });
}

type Ending = Omit<Adoption, "hasIndex">;

/** Completes the request, and cancels other requests for this recording. Its agent learns of it once the bytes were read again. */
async function endRequest(context: TransactionContext, { manifest, owners, row }: Ending): Promise<void> {
  const { tx, nowNs } = context;
  const { requestId: id, uploadId, importId } = manifest;
  if (!(await tx.importRequest.findUnique({ where: { id } })))
    await restoreRequest(tx, manifest, { owners, recordingId: row.id, nowNs });
  if (!(await tx.upload.findUnique({ where: { id: uploadId } }))) await restoreUpload(tx, manifest, nowNs);
  await tx.upload.update({ where: { id: uploadId }, data: { state: "stored", sizeBytes: manifest.sizeBytes } });
  const done = { blobKey: null, indexKey: null, nextAttemptAtNs: null, errorCode: null, errorText: null };
  const whose = { recordingId: row.id, importId, sizeBytes: manifest.sizeBytes, isAcknowledged: true, isAdopted: true };
  await changeRequest(context, { id, event: "adopt", data: { ...done, ...whose, pipelineStage: "Complete" } });
  await cancelRequests(context, [row.id]);
}

/** Restores the import's row, which is kept even after the recording's data is deleted. */
async function keepImport(tx: Transaction, { manifest, owners, row }: Ending): Promise<void> {
  const { importId: id, importedAtNs, startNs, endNs, format, sizeBytes } = manifest;
  const { orgId, projectId, deviceId, path: filename } = row;
  const whose = { recordingId: row.id, orgId, projectId, deviceId, siteId: owners.siteId };
  const file = { deviceName: owners.device?.name, filename, importedAtNs, startNs, endNs, format, sizeBytes };
  await tx.import.upsert({ where: { id }, create: { id, ...whose, ...file }, update: { deletedAtNs: null } });
}

/** Links the file to the recording if its agent reported the file before the walk came to it. */
async function linkFile(tx: Transaction, { manifest: { edge }, row }: Omit<Ending, "owners">): Promise<void> {
  if (!edge || row.edgeFile) return;
  const { agentId, versionId } = edge;
  await tx.edgeFile.updateMany({ where: { agentId, versionId, recordingId: null }, data: { recordingId: row.id } });
}

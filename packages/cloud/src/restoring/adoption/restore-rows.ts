import { recordingFormatOf } from "@downlink/recordings";
import type { ImportRequestModel, UploadModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { LockedRecording } from "../../import-life/lock-recording.ts";
import type { Manifest } from "../../keeping/manifests/manifest.ts";
import type { Owners } from "./find-owners.ts";

/**
 * Inserts the row of a recording that the database has lost, without data; its details are known once its agent or the cloud has read the
 * file.
 */
export async function restoreRecording(tx: Transaction, manifest: Manifest, owners: Owners): Promise<LockedRecording> {
  const { recordingId: id, orgId, filename, edge, requestedAtNs } = manifest;
  const spanNs = edge?.modifiedAtNs ?? requestedAtNs;
  return tx.recording.create({
    data: {
      ...{ id, orgId, projectId: owners.projectId, deviceId: owners.device?.id ?? null },
      ...{ sessionId: owners.session?.id ?? null, edgeSiteId: owners.edgeSiteId, path: filename, key: manifest.key },
      ...{ sizeBytes: manifest.sizeBytes ?? 0n, startNs: spanNs, endNs: spanNs, durationNs: 0n, messageCount: 0n },
      ...{ format: recordingFormatOf(filename) ?? "mcap", metadata: [], isEdge: edge !== undefined },
      ...{ importStatus: "none", createdAtNs: createdAtOf(manifest) },
    },
    include: { edgeFile: true },
  });
}

function createdAtOf(manifest: Manifest): bigint {
  if (manifest.kind === "begun") return manifest.requestedAtNs;
  return manifest.reportedAtNs ?? manifest.importedAtNs;
}

interface Restored {
  readonly owners: Owners;
  /** The recording's id, if there is a recording. */
  readonly recordingId: string | null;
  readonly nowNs: bigint;
}

/** Inserts the row of an import request that the database has lost, which waits for its file. */
export async function restoreRequest(
  tx: Transaction,
  manifest: Manifest,
  { owners, recordingId, nowNs }: Restored,
): Promise<ImportRequestModel> {
  const { requestId: id, orgId, source, edge, salvageOfId, filename, priority } = manifest;
  const isSource = salvageOfId !== undefined && (await tx.importRequest.count({ where: { id: salvageOfId } })) > 0;
  return tx.importRequest.create({
    data: {
      ...{ id, orgId, projectId: owners.projectId, siteId: owners.siteId, source, recordingId, filename, priority },
      ...{ state: "awaiting", pipelineStage: "Waiting for the file", isAdopted: true },
      ...{ deviceId: owners.device?.id, deviceName: owners.device?.name ?? manifest.deviceName, key: manifest.key },
      ...{ sessionId: owners.session?.id, sessionKey: manifest.sessionKey, salvageOfId: isSource ? salvageOfId : null },
      ...{ versionId: edge?.versionId, agentId: edge?.agentId, isAcknowledged: edge === undefined },
      ...{ createdAtNs: manifest.requestedAtNs, updatedAtNs: nowNs },
    },
  });
}

/** Inserts the row of an upload that the database has lost, open as it was. */
export async function restoreUpload(tx: Transaction, manifest: Manifest, nowNs: bigint): Promise<UploadModel> {
  const { uploadId: id, orgId, requestId, uploadKind: kind, sizeBytes, partSizeBytes, edge } = manifest;
  return tx.upload.create({
    data: {
      ...{ id, orgId, requestId, kind, sizeBytes, partSizeBytes, versionId: edge?.versionId },
      ...{ modifiedAtNs: edge?.modifiedAtNs, blobKey: `${orgId}/${id}`, state: "open" },
      ...{ createdAtNs: manifest.begunAtNs, updatedAtNs: nowNs },
    },
  });
}

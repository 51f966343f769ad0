// Import requests keep the id and name of their device without a foreign key, so that a file whose device was deleted meanwhile fails with
// "Device not found" and is never filed under no device. Nearly all requests are complete: the others have partial indexes, one for each
// order.

import type { Requester } from "@downlink/protocol";
import type { EdgeFileModel, RecordingModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";

/** The priority of files that an agent requests by its globs: requests of people go first. */
export const AUTO_IMPORT_PRIORITY = -10;

/** The priority of what is requested only because the object store has lost it. */
export const LOST_PRIORITY = -1000;

/** The columns of its recording that a request keeps. */
export type Requested = Pick<
  RecordingModel,
  "id" | "orgId" | "projectId" | "deviceId" | "key" | "path" | "importId" | "storedDamage"
>;

interface RequestOf {
  readonly recording: Requested;
  readonly edgeFile: Pick<EdgeFileModel, "versionId" | "agentId">;
  readonly siteId: string;
  readonly deviceName: string | undefined;
  readonly priority: number;
  readonly requestedBy?: Requester | undefined;
  readonly nowNs: bigint;
}

/** Makes a request that waits for the device to deliver the recording's file. */
export function importRequestRow({ recording, edgeFile, siteId, deviceName, priority, requestedBy, nowNs }: RequestOf) {
  return {
    id: newId("req"),
    orgId: recording.orgId,
    projectId: recording.projectId,
    siteId,
    source: "edge",
    state: "awaiting",
    pipelineStage: "Waiting for the device",
    recordingId: recording.id,
    deviceId: recording.deviceId,
    deviceName,
    key: recording.key,
    filename: recording.path,
    versionId: edgeFile.versionId,
    agentId: edgeFile.agentId,
    priority,
    requestedBy,
    isRepair: recording.storedDamage !== null,
    importId: recording.importId,
    createdAtNs: nowNs,
    updatedAtNs: nowNs,
  } as const;
}

const unasked = [AUTO_IMPORT_PRIORITY, LOST_PRIORITY];

/** A request that waited only because of a glob, or because its data was lost, now waits because a caller requested it. */
export async function raisePriority(
  tx: Transaction,
  recordingIds: readonly string[],
  { priority, requestedBy }: { readonly priority: number; readonly requestedBy: Requester },
): Promise<void> {
  if (priority <= AUTO_IMPORT_PRIORITY) return;
  await tx.importRequest.updateMany({
    where: { recordingId: { in: [...recordingIds] }, state: "awaiting", priority: { in: unasked } },
    data: { priority, requestedBy },
  });
}

// Import requests keep id and name of their device without a foreign key, so that a file whose device was deleted
// meanwhile fails with "Device not found" and is never filed as one of no device. Nearly all are complete: the
// others have partial indexes, in each order.

import type { Requester } from "@downlink/protocol";
import type { EdgeFileModel, RecordingModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";

/** Of what an agent asks for by its globs: whatever a person asks for goes before it. */
export const AUTO_IMPORT_PRIORITY = -10;

/** What a request keeps of its recording. */
export type Requested = Pick<RecordingModel, "id" | "orgId" | "projectId" | "deviceId" | "key" | "path">;

interface RequestOf {
  readonly recording: Requested;
  readonly edgeFile: Pick<EdgeFileModel, "versionId" | "agentId">;
  readonly siteId: string;
  readonly deviceName: string | undefined;
  readonly priority: number;
  readonly requestedBy?: Requester | undefined;
  readonly nowNs: bigint;
}

/** A request that waits for the device to deliver the recording's file. */
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
    createdAtNs: nowNs,
    updatedAtNs: nowNs,
  } as const;
}

/** What waits only because a glob matched it waits from now on because somebody asked. */
export async function raisePriority(
  tx: Transaction,
  recordingIds: readonly string[],
  { priority, requestedBy }: { readonly priority: number; readonly requestedBy: Requester },
): Promise<void> {
  if (priority <= AUTO_IMPORT_PRIORITY) return;
  await tx.importRequest.updateMany({
    where: { recordingId: { in: [...recordingIds] }, state: "awaiting", priority: AUTO_IMPORT_PRIORITY },
    data: { priority, requestedBy },
  });
}

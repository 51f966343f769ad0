import type { Requester } from "@downlink/protocol";
import type { TransactionContext } from "../background/jobs/transaction-context.ts";
import { deliverySitesOf } from "../organization/projects/primary-site.ts";
import { cancelRequests } from "./change-request.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { importRequestRow, raisePriority } from "./import-request-rows.ts";
import { nextImportStatus, noFailure } from "./import-status.ts";
import { findLocked } from "./lock-recording.ts";

interface QueueRequest {
  readonly recordingId: string;
  readonly priority: number;
  readonly requestedBy?: Requester;
}

/** Requests a recording within another change; does nothing if its import is running or done, or if it does not exist. */
export async function queueImport(
  context: TransactionContext,
  { recordingId, priority, requestedBy }: QueueRequest,
): Promise<void> {
  const { tx, nowNs } = context;
  const recording = await findLocked(tx, recordingId);
  const edgeFile = recording && edgeCopyOf(recording, nowNs);
  if (!edgeFile) return;
  const { deviceId, orgId, projectId } = recording;
  const importStatus = nextImportStatus(recording.importStatus, "request", true);
  if (requestedBy && recording.importStatus === "pending")
    await raisePriority(tx, [recordingId], { priority, requestedBy });
  if (importStatus === recording.importStatus) return;
  await cancelRequests(context, [recordingId]); // the requests of an import that failed
  const siteOf = await deliverySitesOf(tx, orgId, [projectId]);
  const device = deviceId === null ? null : await tx.device.findUnique({ where: { id: deviceId } });
  const request = {
    recording,
    edgeFile,
    siteId: siteOf(projectId),
    deviceName: device?.name,
    priority,
    requestedBy,
    nowNs,
  };
  await tx.importRequest.create({ data: importRequestRow(request) });
  const data = { importStatus, ...noFailure };
  await tx.recording.update({ where: { id: recordingId }, data });
}

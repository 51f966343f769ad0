import type { Requester } from "@downlink/protocol";
import type { TransactionContext } from "../jobs/transaction-context.ts";
import { primarySiteOf } from "../projects/primary-site.ts";
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

/** Asks for a recording within another change; where it is under way or done, or not there, that brings nothing about. */
export async function queueImport(
  context: TransactionContext,
  { recordingId, priority, requestedBy }: QueueRequest,
): Promise<void> {
  const { tx, nowNs } = context;
  const recording = await findLocked(tx, recordingId);
  const edgeFile = recording && edgeCopyOf(recording, nowNs);
  if (!edgeFile) return;
  const { deviceId, orgId } = recording;
  const importStatus = nextImportStatus(recording.importStatus, "request", true);
  if (requestedBy && recording.importStatus === "pending")
    await raisePriority(tx, [recordingId], { priority, requestedBy });
  if (importStatus === recording.importStatus) return;
  await cancelRequests(context, [recordingId]); // of one that failed
  const site = await primarySiteOf(tx, orgId);
  const device = deviceId === null ? null : await tx.device.findUnique({ where: { id: deviceId } });
  const request = { recording, edgeFile, siteId: site.id, deviceName: device?.name, priority, requestedBy, nowNs };
  await tx.importRequest.create({ data: importRequestRow(request) });
  const data = { importStatus, ...noFailure };
  await tx.recording.update({ where: { id: recordingId }, data });
}

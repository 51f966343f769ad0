import type { Requester } from "@downlink/protocol";
import type { TransactionContext } from "../background/jobs/transaction-context.ts";
import type { EdgeFileModel } from "../db/generated/models.ts";
import { insertRows } from "../db/insert-rows.ts";
import { deliverySitesOf } from "../organization/projects/primary-site.ts";
import { cancelRequests } from "./change-request.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { importRequestRow, type Requested, raisePriority } from "./import-request-rows.ts";
import { nextImportStatus, noFailure } from "./import-status.ts";
import { findLocked } from "./lock-recording.ts";

/** A recording whose file must come from the edge, with the facts by which the edge knows it. */
export interface Queueable {
  readonly recording: Requested;
  readonly edgeFile: Pick<EdgeFileModel, "versionId" | "agentId">;
  readonly deviceName: string | undefined;
}

interface QueueRequest {
  readonly priority: number;
  /** Absent where the service asks by itself. */
  readonly requestedBy?: Requester | undefined;
}

/** Requests a recording within another change; does nothing if its import is running or done, or if it does not exist. */
export async function queueImport(
  context: TransactionContext,
  { recordingId, priority, requestedBy }: QueueRequest & { readonly recordingId: string },
): Promise<void> {
  const { tx, nowNs } = context;
  const recording = await findLocked(tx, recordingId);
  const edgeFile = recording && edgeCopyOf(recording, nowNs);
  if (!edgeFile) return;
  const { deviceId, importStatus } = recording;
  if (requestedBy && importStatus === "pending") await raisePriority(tx, [recordingId], { priority, requestedBy });
  if (nextImportStatus(importStatus, "request", true) === importStatus) return;
  const device = deviceId === null ? null : await tx.device.findUnique({ where: { id: deviceId } });
  await queueImports(context, [{ recording, edgeFile, deviceName: device?.name }], { priority, requestedBy });
}

/**
 * Requests these recordings from their agents. Their rows are locked, and no import of them is running. Earlier requests have failed and
 * are over.
 */
export async function queueImports(
  context: TransactionContext,
  wanted: readonly Queueable[],
  { priority, requestedBy }: QueueRequest,
): Promise<void> {
  const { tx, nowNs } = context;
  const [first] = wanted;
  if (!first) return;
  const recordingIds = wanted.map(({ recording }) => recording.id);
  await cancelRequests(context, recordingIds);
  const projectIds = wanted.map(({ recording }) => recording.projectId);
  const siteOf = await deliverySitesOf(tx, first.recording.orgId, projectIds);
  const rows = wanted.map((one) =>
    importRequestRow({ ...one, siteId: siteOf(one.recording.projectId), priority, requestedBy, nowNs }),
  );
  await insertRows(tx, "ImportRequest", rows);
  await tx.recording.updateMany({
    where: { id: { in: recordingIds } },
    data: { importStatus: "pending", ...noFailure },
  });
}

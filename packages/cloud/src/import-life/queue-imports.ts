import type { Requester } from "@downlink/protocol";
import type { TransactionContext } from "../background/jobs/transaction-context.ts";
import type { EdgeFileModel } from "../db/generated/models.ts";
import { insertRows } from "../db/insert-rows.ts";
import { deliverySitesOf } from "../organization/projects/primary-site.ts";
import { cancelRequests } from "./change-request.ts";
import { importRequestRow, type Requested } from "./import-request-rows.ts";
import { noFailure } from "./import-status.ts";

/** A recording whose file must come from the edge, with the facts by which the edge knows it. */
export interface Queueable {
  readonly recording: Requested;
  readonly edgeFile: Pick<EdgeFileModel, "versionId" | "agentId">;
  readonly deviceName: string | undefined;
}

interface QueueRequest {
  readonly priority: number;
  readonly requestedBy: Requester;
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

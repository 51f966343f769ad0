import type { Requester } from "@downlink/protocol";
import type { EdgeFileModel } from "../db/generated/models.ts";
import { insertRows } from "../db/insert-rows.ts";
import type { TransactionContext } from "../jobs/transaction-context.ts";
import { primarySiteOf } from "../projects/primary-site.ts";
import { cancelRequests } from "./change-request.ts";
import { importRequestRow, type Requested } from "./import-request-rows.ts";
import { noFailure } from "./import-status.ts";

/** A recording whose file is to come from the edge, with what it is known by there. */
export interface Queueable {
  readonly recording: Requested;
  readonly edgeFile: Pick<EdgeFileModel, "versionId" | "agentId">;
  readonly deviceName: string | undefined;
}

interface QueueRequest {
  readonly priority: number;
  readonly requestedBy: Requester;
}

/** Asks the agents of these recordings for them; their rows are locked, and none is on its way. Earlier requests, which failed, are over. */
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
  const { id: siteId } = await primarySiteOf(tx, first.recording.orgId);
  const rows = wanted.map((one) => importRequestRow({ ...one, siteId, priority, requestedBy, nowNs }));
  await insertRows(tx, "ImportRequest", rows);
  await tx.recording.updateMany({
    where: { id: { in: recordingIds } },
    data: { importStatus: "pending", ...noFailure },
  });
}

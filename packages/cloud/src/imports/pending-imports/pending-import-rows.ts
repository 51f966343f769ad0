import { type PendingImport, type PendingImportStatus, Requester } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { type ImportRequestState, terminalStates } from "../../import-life/import-request-state.ts";
import { seesProject } from "../../organization/projects/find-project.ts";

/** A request with the fields of its recording that are shown. */
export const withRecording = { recording: { select: { id: true, projectId: true } } } as const;

type Row = Prisma.ImportRequestGetPayload<{ include: typeof withRecording }>;

export function toPendingImport(ctx: Pick<Ctx, "caller">, row: Row): Complete<PendingImport> {
  return {
    requestId: row.id,
    orgId: row.orgId,
    projectId: row.projectId ?? undefined,
    siteId: row.siteId,
    deviceId: row.deviceId ?? undefined,
    deviceName: row.deviceName ?? undefined,
    filename: row.filename,
    status: statuses[row.state],
    pipelineStage: row.pipelineStage,
    error: row.errorText ?? undefined,
    errorCode: row.errorCode ?? undefined,
    importId: row.importId ?? undefined,
    recordingId: visibleRecordingId(ctx, row),
    salvageOf: row.salvageOfId ?? undefined,
    existing: row.isExisting,
    priority: row.priority,
    requestedBy: toComplete(Requester.safeParse(row.requestedBy).data),
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    quarantinedAt: row.quarantinedAtNs ?? undefined,
    terminal: terminalStates.some((state) => state === row.state),
    attempts: row.attempts,
    nextAttemptAt: row.nextAttemptAtNs ?? undefined,
  };
}

/** A request is no pending import before its bytes are stored, nor after it was cancelled. */
const statuses: Record<ImportRequestState, PendingImportStatus | undefined> = {
  awaiting: undefined,
  received: "received",
  processing: "processing",
  "ready for indexing": "ready for indexing",
  complete: "complete",
  error: "error",
  cancelled: undefined,
};

/** A recording at the edge may have moved to a project that the caller does not see, after its data was deleted. */
function visibleRecordingId(ctx: Pick<Ctx, "caller">, { recording }: Row): string | undefined {
  return recording && seesProject(ctx, recording.projectId) ? recording.id : undefined;
}

import { type PendingImport, PendingImportStatus } from "@downlink/protocol";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { terminalStates } from "../ingest/import-request-state.ts";

export function toPendingImport(row: ImportRequestModel): PendingImport {
  return {
    requestId: row.id,
    orgId: row.orgId,
    projectId: row.projectId ?? undefined,
    siteId: row.siteId,
    deviceId: row.deviceId ?? undefined,
    deviceName: row.deviceName ?? undefined,
    filename: row.filename,
    status: PendingImportStatus.safeParse(row.state).data,
    pipelineStage: row.pipelineStage,
    error: row.errorText ?? undefined,
    importId: row.importId ?? undefined,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    quarantinedAt: row.quarantinedAtNs ?? undefined,
    terminal: terminalStates.some((state) => state === row.state),
    attempts: row.attempts,
    nextAttemptAt: row.nextAttemptAtNs ?? undefined,
  };
}

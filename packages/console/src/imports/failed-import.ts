import type { PendingImport, Recording } from "@downlink/protocol";

/** An import that failed: of a recording, or of a file that was sent and became none. */
export interface FailedImport {
  readonly id: string;
  readonly path: string;
  readonly code: string;
  readonly reason: string | undefined;
  readonly deviceName: string | undefined;
  readonly atNs: bigint;
  /** Absent for a file that became no recording. */
  readonly recordingId: string | undefined;
  /** The request that failed. Absent where data was lost after its import, and where it is not among the newest failures. */
  readonly request: PendingImport | undefined;
}

/**
 * Returns the failed imports of recordings, in their order. Recordings decide what has failed: a request that failed counts no longer once
 * its recording was imported by another one, and counts once however often it failed.
 */
export function failedRecordings(
  recordings: readonly Recording[],
  requests: readonly PendingImport[],
): readonly FailedImport[] {
  const requestOf = new Map(requests.map((request) => [request.recordingId, request]));
  return recordings.map(({ id, path, device, failure, importedAt, createdAt }) => {
    const request = requestOf.get(id);
    return {
      id,
      path: path || id,
      code: failure?.code ?? "",
      reason: failure?.text,
      deviceName: device?.name,
      atNs: request?.updatedAt ?? importedAt ?? createdAt,
      recordingId: id,
      request,
    };
  });
}

/** Returns the failed imports of files that were uploaded or salvaged and became no recording. */
export function failedUploads(requests: readonly PendingImport[]): readonly FailedImport[] {
  return requests
    .filter(({ recordingId }) => recordingId === undefined)
    .map((request) => ({
      id: request.requestId,
      path: request.filename,
      code: request.errorCode ?? "",
      reason: request.error,
      deviceName: request.deviceName,
      atNs: request.updatedAt,
      recordingId: undefined,
      request,
    }));
}

/** Returns whether the readable part can become a recording here. A file of a device is salvaged there, and a salvage is none. */
export function isUpload({ recordingId, request }: Pick<FailedImport, "recordingId" | "request">): boolean {
  return recordingId === undefined && request !== undefined && request.salvageOf === undefined;
}

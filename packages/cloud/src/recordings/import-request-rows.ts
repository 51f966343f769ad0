import type { EdgeFileModel, RecordingModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";

/** Of what an agent asks for by its globs: whatever a person asks for goes before it. */
export const AUTO_IMPORT_PRIORITY = -10;

interface RequestOf {
  readonly recording: RecordingModel;
  readonly edgeFile: Pick<EdgeFileModel, "versionId" | "agentId">;
  readonly siteId: string;
  readonly deviceName: string | undefined;
  readonly priority: number;
  readonly nowNs: bigint;
}

/** A request that waits for the device to deliver the recording's file. */
export function importRequestRow({ recording, edgeFile, siteId, deviceName, priority, nowNs }: RequestOf) {
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
    createdAtNs: nowNs,
    updatedAtNs: nowNs,
  };
}

import type { Device } from "@downlink/protocol";
import type { DeviceModel } from "../db/generated/models.ts";

export function toDevice(row: DeviceModel): Device {
  return {
    id: row.id,
    name: row.name,
    projectId: row.projectId,
    orgId: row.orgId,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
    enabled: row.enabled,
    remoteAccessEnabled: row.remoteAccessEnabled,
    autoDeleteAfterImport: row.autoDeleteAfterImport,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
  };
}

import type { Device, PropertyInterval, PropertyValue, PropertyValues } from "@downlink/protocol";
import type { DeviceModel, DevicePropertyIntervalModel } from "../db/generated/models.ts";

/** Without what its agent says of itself; see device-agents.ts */
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
    properties: row.properties as PropertyValues,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
  };
}

export function toPropertyInterval(row: DevicePropertyIntervalModel): PropertyInterval {
  return {
    id: row.id,
    deviceId: row.deviceId,
    key: row.key,
    value: row.value as PropertyValue,
    start: row.startNs,
    end: row.endNs ?? undefined,
  };
}

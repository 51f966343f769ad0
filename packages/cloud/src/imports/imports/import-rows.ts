import { fileTypes, formatTimestamp, type Import } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { ImportModel } from "../../db/generated/models.ts";

export function toImport(row: ImportModel): Complete<Import> {
  const fileType = fileTypes[row.format];
  const sizeBytes = Number(row.sizeBytes);
  return {
    id: row.id,
    importId: row.id,
    orgId: row.orgId,
    deviceId: row.deviceId ?? undefined,
    deviceName: row.deviceName ?? undefined,
    filename: row.filename,
    importTime: row.importedAtNs,
    start: row.startNs,
    end: row.endNs,
    inputType: fileType,
    outputType: fileType, // the file is stored as it arrived
    inputSize: sizeBytes,
    totalOutputSize: sizeBytes,
    date: formatTimestamp(row.startNs).slice(0, 10).replaceAll("-", ""),
    deleted: row.deletedAtNs !== null,
  };
}

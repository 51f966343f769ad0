import { DataDamage, type ImportStatus, type Recording } from "@downlink/protocol";
import type { Prisma } from "../db/generated/client.ts";

export const recordingColumns = {
  id: true,
  projectId: true,
  path: true,
  sizeBytes: true,
  createdAtNs: true,
  importedAtNs: true,
  startNs: true,
  endNs: true,
  importStatus: true,
  key: true,
  metadata: true,
  sessionId: true,
  damage: true,
  site: { select: { id: true, name: true } },
  edgeSite: { select: { id: true, name: true } },
  device: { select: { id: true, name: true } },
} as const satisfies Prisma.RecordingSelect;

type RecordingRow = Prisma.RecordingGetPayload<{ select: typeof recordingColumns }>;

export function toRecording(row: RecordingRow): Recording {
  return {
    id: row.id,
    projectId: row.projectId,
    path: row.path,
    size: Number(row.sizeBytes),
    createdAt: row.createdAtNs,
    importedAt: row.importedAtNs ?? undefined,
    start: row.startNs,
    end: row.endNs,
    importStatus: row.importStatus as ImportStatus,
    site: row.site ? { ...row.site, indexingStrategy: "split-files" } : undefined,
    edgeSite: row.edgeSite ?? undefined,
    device: row.device ?? undefined,
    key: row.key ?? undefined,
    metadata: row.metadata as Recording["metadata"],
    sessionId: row.sessionId ?? undefined,
    damage: row.damage === null ? undefined : DataDamage.parse(JSON.parse(row.damage)),
  };
}

import type { ListedSession, PropertyValues, Session } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { readLocation } from "../../store/customer-buckets/read-location.ts";

export const sessionColumns = {
  id: true,
  projectId: true,
  device: { select: { id: true, name: true } },
  key: true,
  properties: true,
  createdAtNs: true,
  updatedAtNs: true,
  recordings: {
    select: { id: true, path: true, location: true, startNs: true, endNs: true },
    orderBy: [{ startNs: "asc" }, { id: "asc" }],
  },
} as const satisfies Prisma.SessionSelect;

export type SessionRow = Prisma.SessionGetPayload<{ select: typeof sessionColumns }>;

export function toSession(row: SessionRow): Complete<Session> {
  return {
    id: row.id,
    projectId: row.projectId,
    device: row.device,
    key: row.key ?? undefined,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    properties: row.properties as PropertyValues,
    recordings: row.recordings.map(({ id, path, location, startNs, endNs }) => ({
      ...{ id, path, start: startNs, end: endNs },
      location: readLocation(location),
    })),
  };
}

export function toListedSession(row: SessionRow): Complete<ListedSession> {
  const session = toSession(row);
  return {
    ...session,
    recordingCount: session.recordings.length,
    recordingStart: session.recordings[0]?.start,
    recordingEnd: session.recordings.reduce<bigint | undefined>(later, undefined),
  };
}

function later(latestNs: bigint | undefined, { end }: { end: bigint }): bigint {
  return latestNs === undefined || end > latestNs ? end : latestNs;
}

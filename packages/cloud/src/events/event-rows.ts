import type { Event, PropertyValues } from "@downlink/protocol";
import type { Prisma } from "../db/generated/client.ts";

export const eventColumns = {
  id: true,
  projectId: true,
  deviceId: true,
  device: { select: { id: true, name: true } },
  eventTypeId: true,
  startNs: true,
  endNs: true,
  metadata: true,
  properties: true,
  createdAtNs: true,
  updatedAtNs: true,
} as const satisfies Prisma.EventSelect;

export type EventRow = Prisma.EventGetPayload<{ select: typeof eventColumns }>;

export function toEvent(row: EventRow): Event {
  return {
    id: row.id,
    projectId: row.projectId,
    start: row.startNs,
    end: row.endNs,
    deviceId: row.deviceId,
    device: row.device,
    metadata: row.metadata as Event["metadata"],
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    eventTypeId: row.eventTypeId ?? undefined,
    properties: row.properties as PropertyValues,
  };
}

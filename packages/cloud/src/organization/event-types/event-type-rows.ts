import type { EventType } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";

export const eventTypeColumns = {
  id: true,
  name: true,
  colorName: true,
  createdAtNs: true,
  updatedAtNs: true,
  properties: {
    select: {
      isRequired: true,
      customProperty: { select: { id: true, key: true, label: true, valueType: true, enumValues: true } },
    },
    orderBy: { position: "asc" },
  },
} as const satisfies Prisma.EventTypeSelect;

export type EventTypeRow = Prisma.EventTypeGetPayload<{ select: typeof eventTypeColumns }>;

export function toEventType(row: EventTypeRow): Complete<EventType> {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    colorName: row.colorName ?? undefined,
    customProperties: row.properties.map((use) => ({ id: use.customProperty.id, required: use.isRequired })),
    properties: row.properties.map(toProperty),
  };
}

function toProperty({
  isRequired,
  customProperty,
}: EventTypeRow["properties"][number]): Complete<EventType["properties"][number]> {
  const { key, label, valueType, enumValues } = customProperty;
  return {
    key,
    label,
    required: isRequired,
    values: enumValues.length > 0 ? enumValues : undefined,
    valueType,
  };
}

import type { EventType } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";

/** The properties themselves are read apart, each once: many types may have the same large ones. */
export const eventTypeColumns = {
  id: true,
  name: true,
  colorName: true,
  createdAtNs: true,
  updatedAtNs: true,
  properties: { select: { isRequired: true, customPropertyId: true }, orderBy: { position: "asc" } },
} as const satisfies Prisma.EventTypeSelect;

export type EventTypeRow = Prisma.EventTypeGetPayload<{ select: typeof eventTypeColumns }>;

const propertyColumns = { id: true, key: true, label: true, valueType: true, enumValues: true } as const;

type Property = Prisma.CustomPropertyGetPayload<{ select: typeof propertyColumns }>;

/** Resolves the properties of event types. */
export async function toEventTypes(
  prisma: Pick<Transaction, "customProperty">,
  rows: readonly EventTypeRow[],
): Promise<Complete<EventType>[]> {
  const ids = new Set(rows.flatMap(({ properties }) => properties.map((use) => use.customPropertyId)));
  const found = await prisma.customProperty.findMany({ where: { id: { in: [...ids] } }, select: propertyColumns });
  const properties = new Map(found.map((property) => [property.id, property]));
  return rows.map((row) => toEventType(row, properties));
}

/** A property that was deleted since the row was read is in no type any more. */
function toEventType(row: EventTypeRow, properties: ReadonlyMap<string, Property>): Complete<EventType> {
  const uses = row.properties.flatMap(({ customPropertyId, isRequired }) => {
    const property = properties.get(customPropertyId);
    return property ? [{ property, isRequired }] : [];
  });
  return {
    id: row.id,
    name: row.name,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    colorName: row.colorName ?? undefined,
    customProperties: uses.map(({ property, isRequired }) => ({ id: property.id, required: isRequired })),
    properties: uses.map(toProperty),
  };
}

interface Use {
  readonly property: Property;
  readonly isRequired: boolean;
}

function toProperty({ property, isRequired }: Use): Complete<EventType["properties"][number]> {
  const { key, label, valueType, enumValues } = property;
  return {
    key,
    label,
    required: isRequired,
    values: enumValues.length > 0 ? enumValues : undefined,
    valueType,
  };
}

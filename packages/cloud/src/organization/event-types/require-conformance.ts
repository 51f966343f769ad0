// An event conforms if it has what its type requires; other properties are allowed, because an event keeps its properties when its type
// changes. We check when type or properties are sent, not at every change, so that a requirement that is added later does not keep anybody
// from moving an event. A type in use cannot be deleted (409); the foreign key ensures that, whichever transaction comes first.

import type { PropertyValues } from "@downlink/protocol";
import { invalidAt, throwNotFound } from "../../core/errors.ts";
import type { Transaction } from "../../db/transaction.ts";

interface TypedEvent {
  readonly orgId: string;
  readonly eventTypeId: string;
  readonly properties: PropertyValues;
}

/**
 * An event conforms if it has every property that its type requires; it may have others. Throws a 400 that names each missing one, and a
 * 404 for a type that does not exist. The type stays as it is until the transaction ends. spec: Events/Create
 */
export async function requireConformance(
  tx: Transaction,
  { orgId, eventTypeId, properties }: TypedEvent,
): Promise<void> {
  const [type] = await tx.$queryRaw<{ name: string }[]>`
    SELECT name FROM "EventType" WHERE id = ${eventTypeId} AND "orgId" = ${orgId} FOR SHARE`;
  if (!type) throwNotFound(`event type ${eventTypeId}`);
  const required = await tx.eventTypeProperty.findMany({
    where: { eventTypeId, isRequired: true },
    select: { customProperty: { select: { key: true } } },
    orderBy: { position: "asc" },
  });
  const missing = required.map((use) => use.customProperty.key).filter((key) => !Object.hasOwn(properties, key));
  if (missing.length === 0) return;
  const message = `is required by the event type "${type.name}"`;
  const details = missing.map((key) => ({ path: `properties.${key}`, message }));
  throw invalidAt(details);
}

// An event conforms when it has what its type requires; other properties are welcome, because an event keeps what it
// has when its type changes. We ask when type or properties are sent, not at every change, so that a requirement
// added later stops nobody from moving an event. A type in use is 409 to delete; the foreign key says so, whoever
// comes first.

import type { PropertyValues } from "@downlink/protocol";
import { invalidAt, notFound } from "../core/errors.ts";
import type { Transaction } from "../db/transaction.ts";

interface TypedEvent {
  readonly orgId: string;
  readonly eventTypeId: string;
  readonly properties: PropertyValues;
}

/**
 * An event conforms when it has every property that its type requires; it may have others. 400 names each that is missing,
 * 404 answers for a type that does not exist. The type stays as it is until the transaction ends. spec: Events/Create
 */
export async function requireConformance(
  tx: Transaction,
  { orgId, eventTypeId, properties }: TypedEvent,
): Promise<void> {
  const [type] = await tx.$queryRaw<{ name: string }[]>`
    SELECT name FROM "EventType" WHERE id = ${eventTypeId} AND "orgId" = ${orgId} FOR SHARE`;
  if (!type) notFound(`event type ${eventTypeId}`);
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

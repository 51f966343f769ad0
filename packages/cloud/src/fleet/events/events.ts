import { isDeepStrictEqual } from "node:util";
import type { api, Event, Input, PropertyChanges, PropertyValues } from "@downlink/protocol";
import { writeEvent } from "../../background/outbox/outbox.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, invalidAt, throwNotFound } from "../../core/errors.ts";
import { joinOneConnection } from "../../db/one-connection.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { readPropertyChanges } from "../../organization/custom-properties/find-properties.ts";
import { applyPropertyChanges } from "../../organization/custom-properties/property-values.ts";
import { tenancyOf, visibleTo } from "../../organization/projects/find-project.ts";
import { selectDevice } from "../devices/find-device.ts";
import { type EventRow, eventColumns, selectEvent, toEvent, toEventFromJoin } from "./event-rows.ts";
import { insertEvent } from "./insert-event.ts";
import { listEvents } from "./list-events.ts";

type Contract = typeof api.events;

export const events: Handlers<Contract> = {
  list: listEvents,
  create: createEvent,
  get: getEvent,
  update: updateEvent,
  delete: deleteEvent,
};

async function createEvent(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<Event>> {
  const { start: startNs, end: endNs, metadata, properties: sent } = body;
  const device = (await selectDevice(ctx, body)) ?? invalid("deviceId", "deviceId or deviceName is required");
  requireOrder(startNs, endNs);
  const event = {
    deviceId: device.id,
    eventTypeId: body.eventTypeId || null,
    startNs,
    endNs,
    metadata,
    properties: {},
  };
  if (event.eventTypeId === null && Object.keys(sent ?? {}).length === 0)
    return toEventFromJoin(await insertEvent(ctx, ctx.db, event));
  return joinOneConnection(ctx.db, async (db) => {
    const properties = await checkProperties(db.tx, ctx, { ...event, sent });
    return toEventFromJoin(await insertEvent(ctx, db, { ...event, properties }));
  });
}

interface Described {
  readonly eventTypeId: string | null;
  readonly sent: PropertyChanges | undefined;
}

/** Returns the properties to store. Their definitions, and the type that they conform to, stay as they are until the transaction ends. */
async function checkProperties(tx: Transaction, { caller: { orgId } }: Ctx, { eventTypeId, sent }: Described) {
  const changes = await readPropertyChanges(tx, { orgId, resourceType: "event", changes: sent });
  const properties = applyPropertyChanges({}, changes);
  if (eventTypeId !== null) await requireConformance(tx, { orgId, eventTypeId, properties });
  return properties;
}

async function getEvent(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<Event>> {
  const [row] = await selectEvent(ctx.db, { ...tenancyOf(ctx), id });
  return row ? toEventFromJoin(row) : throwNotFound(`event ${id}`);
}

async function updateEvent(ctx: Ctx, input: Input<Contract["update"]>): Promise<Complete<Event>> {
  const { orgId } = ctx.caller;
  return withTransaction(ctx.db, async (tx) => {
    const changes = await readPropertyChanges(tx, { orgId, resourceType: "event", changes: input.properties });
    const row = await lockEvent(tx, ctx, input.id);
    const after = applyUpdate(row, { ...input, properties: changes });
    requireOrder(after.startNs, after.endNs);
    const isTyping = input.eventTypeId !== undefined || input.properties !== undefined;
    if (after.eventTypeId !== null && isTyping)
      await requireConformance(tx, { orgId, eventTypeId: after.eventTypeId, properties: after.properties });
    if (isDeepStrictEqual({ ...row, ...after }, row)) return toEvent(row);
    const data = { ...after, updatedAtNs: ctx.clock.nowNs() };
    const updated = await tx.event.update({ where: { id: row.id }, data, select: eventColumns });
    await publishUpdate(tx, { orgId, row: updated });
    return toEvent(updated);
  });
}

async function deleteEvent(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.event.deleteMany({ where: { AND: [{ id }, visibleTo(ctx)] } });
  return count > 0 ? { id } : throwNotFound(`event ${id}`);
}

function requireOrder(startNs: bigint, endNs: bigint): void {
  if (startNs > endNs) invalid("end", "must not be before start");
}

/** Returns the columns that the event will have. An empty type removes the type. spec: Events/Update */
function applyUpdate(row: EventRow, { start, end, metadata, eventTypeId, properties = {} }: Input<Contract["update"]>) {
  return {
    startNs: start ?? row.startNs,
    endNs: end ?? row.endNs,
    metadata: metadata ?? (row.metadata as Event["metadata"]),
    eventTypeId: (eventTypeId ?? row.eventTypeId) || null,
    properties: applyPropertyChanges(row.properties as PropertyValues, properties),
  };
}

/** Locks the event and returns it; until the transaction ends, other changes of it wait. */
async function lockEvent(tx: Transaction, ctx: Ctx, id: string): Promise<EventRow> {
  const { orgId } = ctx.caller;
  await tx.$queryRaw`SELECT id FROM "Event" WHERE id = ${id} AND "orgId" = ${orgId} FOR NO KEY UPDATE`;
  const where = { AND: [{ id }, visibleTo(ctx)] };
  return (await tx.event.findFirst({ where, select: eventColumns })) ?? throwNotFound(`event ${id}`);
}

async function publishUpdate(tx: Transaction, { orgId, row }: { orgId: string; row: EventRow }): Promise<void> {
  const { id, projectId, updatedAtNs: occurredAtNs } = row;
  await writeEvent(tx, { type: "event.updated", orgId, projectId, occurredAtNs, payload: { event: { id } } });
}

interface TypedEvent {
  readonly orgId: string;
  readonly eventTypeId: string;
  readonly properties: PropertyValues;
}

/**
 * An event conforms if it has every property that its type requires; a 400 names each missing one, and an unknown type is a 404. This is
 * checked when type or properties are sent, so that a requirement that is added later keeps no caller from moving an event. The type stays
 * as it is until the transaction ends. spec: Events/Create
 */
async function requireConformance(tx: Transaction, { orgId, eventTypeId, properties }: TypedEvent): Promise<void> {
  const [type] = await tx.$queryRaw<{ name: string }[]>`
    SELECT name FROM "EventType" WHERE id = ${eventTypeId} AND "orgId" = ${orgId} FOR SHARE`;
  if (!type) throwNotFound(`event type ${eventTypeId}`);
  const required = await tx.eventTypeProperty.findMany({
    where: { eventTypeId, isRequired: true },
    select: { customProperty: { select: { key: true } } },
    orderBy: { position: "asc" },
  });
  // Other properties are allowed, because an event keeps its properties when its type changes.
  const missing = required.map((use) => use.customProperty.key).filter((key) => !Object.hasOwn(properties, key));
  if (missing.length === 0) return;
  const message = `is required by the event type "${type.name}"`;
  const details = missing.map((key) => ({ path: `properties.${key}`, message }));
  throw invalidAt(details);
}

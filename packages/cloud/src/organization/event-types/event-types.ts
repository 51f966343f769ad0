import type { api, EventType, Input, PropertyResourceType } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, refuse, throwNotFound } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { type Batches, readInBatches } from "../../db/read-in-batches.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { onForeignKeyViolation, onUniqueViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { type EventTypeRow, eventTypeColumns, toEventTypes } from "./event-type-rows.ts";
import { findEventType } from "./find-event-type.ts";

/** A type may have megabytes of values. */
const FIRST_TYPES = 1;

type Contract = typeof api.eventTypes;

/** Event types belong to the organization, not to a project: every key of the organization sees all of them. */
export const eventTypes: Handlers<Contract> = {
  list: listEventTypes,
  create: createEventType,
  get: getEventType,
  update: updateEventType,
  delete: deleteEventType,
};

/** The values of properties stand in each type that has them, so that a list may become very large. */
async function listEventTypes(
  { db: { prisma }, caller: { orgId } }: Ctx,
  { limit, offset }: Input<Contract["list"]>,
): Promise<Batches<Complete<EventType>>> {
  const page = await prisma.eventType.findMany({
    where: { orgId },
    select: { id: true },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  const ids = page.map(({ id }) => id);
  const read = async (some: readonly string[]) => {
    const rows = await prisma.eventType.findMany({ where: { id: { in: [...some] } }, select: eventTypeColumns });
    return toEventTypes(prisma, sortByIds(some, rows));
  };
  return readInBatches(ids, read, FIRST_TYPES);
}

async function createEventType(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<EventType>> {
  const { name, colorName, customProperties } = body;
  const { orgId } = ctx.caller;
  const nowNs = ctx.clock.nowNs();
  const created = withTransaction(ctx.db, async (tx) => {
    const uses = await readPropertyUses(tx, orgId, customProperties);
    return tx.eventType.create({
      data: {
        id: newId("evtt"),
        orgId,
        name,
        colorName,
        createdAtNs: nowNs,
        updatedAtNs: nowNs,
        properties: { create: uses },
      },
      select: eventTypeColumns,
    });
  });
  return resolve(ctx, await created.catch(nameTaken(name)));
}

async function getEventType(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<EventType>> {
  return resolve(ctx, await findEventType(ctx, id));
}

async function updateEventType(ctx: Ctx, input: Input<Contract["update"]>): Promise<Complete<EventType>> {
  const { id, name, colorName, customProperties } = input;
  const { orgId } = ctx.caller;
  const updated = withTransaction(ctx.db, async (tx) => {
    const uses = customProperties && (await readPropertyUses(tx, orgId, customProperties));
    const data = { name, colorName, updatedAtNs: ctx.clock.nowNs() };
    const { count } = await tx.eventType.updateMany({ where: { id, orgId }, data });
    if (count === 0) throwNotFound(`event type ${id}`);
    const properties = uses && { deleteMany: {}, create: uses };
    return tx.eventType.update({ where: { id }, data: { properties }, select: eventTypeColumns });
  });
  return resolve(ctx, await updated.catch(nameTaken(name ?? "")));
}

async function resolve({ db }: Ctx, row: EventTypeRow): Promise<Complete<EventType>> {
  const [type] = await toEventTypes(db.prisma, [row]);
  return type!;
}

async function deleteEventType(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const where = { id, orgId: ctx.caller.orgId };
  const { count } = await ctx.db.prisma.eventType.deleteMany({ where }).catch(refuseIfInUse(id));
  return count > 0 ? { id } : throwNotFound(`event type ${id}`);
}

type PropertyUses = Input<Contract["create"]>["customProperties"];

/** Returns the rows of a type's list. None of the properties can be deleted until the transaction ends. */
async function readPropertyUses(tx: Transaction, orgId: string, uses: PropertyUses) {
  const found = await tx.$queryRaw<{ id: string; resourceType: PropertyResourceType }[]>`
    SELECT id, "resourceType" FROM "CustomProperty"
    WHERE "orgId" = ${orgId} AND id = ANY(${uses.map(({ id }) => id)}) ORDER BY key FOR KEY SHARE`;
  const resourceTypes = new Map(found.map(({ id, resourceType }) => [id, resourceType]));
  return uses.map(({ id, required }, position) => {
    const resourceType = resourceTypes.get(id) ?? throwNotFound(`custom property ${id}`);
    if (resourceType !== "event")
      invalid(
        `customProperties.${position}.id`,
        `must name a custom property of events; ${id} is one of ${resourceType}s`,
      );
    return { customPropertyId: id, position, isRequired: required };
  });
}

function nameTaken(name: string) {
  return onUniqueViolation(() => refuse("NameTaken", `the organization has an event type named "${name}" already`));
}

function refuseIfInUse(id: string) {
  return onForeignKeyViolation(() => refuse("Conflict", `event type ${id} is in use; remove it from its events first`));
}

import type { api, CustomProperty, Input, PropertyResourceType, PropertyValueType } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, invalid, refuse, throwNotFound } from "../../core/errors.ts";
import type { CustomPropertyModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { findUsedProperties } from "./property-usage.ts";

type Contract = typeof api.customProperties;

/** Custom properties belong to the organization: all its projects share them. */
export const customProperties: Handlers<Contract> = {
  list: listProperties,
  create: createProperty,
  get: getProperty,
  update: updateProperty,
  delete: deleteProperty,
};

async function listProperties(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<CustomProperty>[]> {
  const { resourceType, limit, offset } = query;
  const rows = await ctx.db.prisma.customProperty.findMany({
    where: { orgId: ctx.caller.orgId, ...(resourceType && { resourceType }) },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  const ids = rows.map(({ id }) => id);
  const used = await findUsedProperties(ctx.db.prisma, ctx.caller, ids);
  return rows.map((row) => toCustomProperty(row, used.has(row.id)));
}

async function createProperty(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<CustomProperty>> {
  const { key, label, resourceType, valueType, enumValues = [] } = body;
  requireChoices(valueType, enumValues);
  const { orgId } = ctx.caller;
  const created = ctx.db.prisma.customProperty.create({
    data: {
      id: newId("cp"),
      orgId,
      key,
      label,
      resourceType,
      valueType,
      enumValues,
      createdAtNs: ctx.clock.nowNs(),
    },
  });
  return toCustomProperty(await created.catch(keyTaken(body)), false);
}

async function getProperty(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<CustomProperty>> {
  return withUsage(ctx, await findProperty(ctx, id));
}

async function updateProperty(ctx: Ctx, input: Input<Contract["update"]>): Promise<Complete<CustomProperty>> {
  const { id, label, enumValues } = input;
  const { id: found } = await findProperty(ctx, id);
  const row = await withTransaction(ctx.db, async (tx) => {
    // Two calls that add values at once must not drop each other's values; meanwhile, resources may still be given values.
    await tx.$queryRaw`SELECT id FROM "CustomProperty" WHERE id = ${found} FOR NO KEY UPDATE`;
    const before = await requireProperty(tx, found);
    if (enumValues) requireSuperset(before, enumValues);
    return tx.customProperty.update({
      where: { id: found },
      data: { ...(label && { label }), ...(enumValues && { enumValues }) },
    });
  });
  return withUsage(ctx, row);
}

async function deleteProperty(ctx: Ctx, ref: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { id } = await findProperty(ctx, ref.id);
  await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "CustomProperty" WHERE id = ${id} FOR UPDATE`; // no resource is given a value meanwhile
    const row = await requireProperty(tx, id);
    if (row.resourceType === "device") await forgetDeviceProperty(tx, { ...row, nowNs: ctx.clock.nowNs() });
    else await requireUnused(tx, row);
    await tx.eventTypeProperty.deleteMany({ where: { customPropertyId: id } });
    await tx.customProperty.delete({ where: { id } });
  });
  return { id };
}

async function findProperty(ctx: Ctx, id: string): Promise<CustomPropertyModel> {
  const row = await ctx.db.prisma.customProperty.findFirst({ where: { id, orgId: ctx.caller.orgId } });
  return row ?? throwNotFound(`custom property ${id}`);
}

async function requireProperty(tx: Transaction, id: string): Promise<CustomPropertyModel> {
  return (await tx.customProperty.findUnique({ where: { id } })) ?? throwNotFound(`custom property ${id}`);
}

async function withUsage(ctx: Ctx, row: CustomPropertyModel): Promise<Complete<CustomProperty>> {
  const used = await findUsedProperties(ctx.db.prisma, ctx.caller, [row.id]);
  return toCustomProperty(row, used.has(row.id));
}

function requireChoices(valueType: PropertyValueType, enumValues: readonly string[]): void {
  if (hasChoices(valueType) && enumValues.length === 0)
    invalid("enumValues", `must hold at least one value for the type ${valueType}`);
  if (!hasChoices(valueType) && enumValues.length > 0)
    invalid("enumValues", `must be left out for the type ${valueType}`);
}

/** The values may be reordered or added to, so that what resources hold stays valid. spec: Custom properties/Update */
function requireSuperset({ valueType, enumValues }: CustomPropertyModel, wanted: readonly string[]): void {
  requireChoices(valueType, wanted);
  const kept = new Set(wanted);
  const dropped = enumValues.filter((value) => !kept.has(value));
  if (dropped.length > 0)
    invalid("enumValues", `must keep ${JSON.stringify(dropped)}: values may be reordered or added, not removed`);
}

/** A property is deleted only if no value uses it. spec: Custom properties/Delete */
async function requireUnused(tx: Transaction, { id, orgId, key, resourceType }: CustomPropertyModel): Promise<void> {
  const used = await findUsedProperties(tx, { orgId, projectIds: [] }, [id]);
  if (used.has(id)) throw new ApiError("Conflict", `some ${resourceType} has a value of the property "${key}"`);
}

function keyTaken({ key, resourceType }: { key: string; resourceType: PropertyResourceType }) {
  const sentence = `there is a custom property of ${resourceType}s with the key "${key}" already`;
  return onUniqueViolation(() => refuse("NameTaken", sentence));
}

interface Forgotten {
  readonly orgId: string;
  readonly key: string;
  readonly nowNs: bigint;
}

/**
 * Takes a key from all devices, now and in their history: 5 s for 100,000 devices with 1,000,000 intervals. The caller has locked the
 * property. No event is written: 100,000 `device.updated` would each be a webhook call for one act of an admin. spec: Custom
 * properties/Delete
 */
async function forgetDeviceProperty(tx: Transaction, { orgId, key, nowNs }: Forgotten): Promise<void> {
  await tx.$executeRaw`
    UPDATE "Device" SET properties = properties - ${key}, "updatedAtNs" = ${nowNs}
    WHERE "orgId" = ${orgId} AND properties ? ${key}`;
  await tx.$executeRaw`DELETE FROM "DevicePropertyInterval" WHERE "orgId" = ${orgId} AND key = ${key}`;
}

function toCustomProperty(row: CustomPropertyModel, hasAssociatedData: boolean): Complete<CustomProperty> {
  const choices = hasChoices(row.valueType) ? row.enumValues : undefined;
  return {
    id: row.id,
    key: row.key,
    label: row.label,
    resourceType: row.resourceType,
    valueType: row.valueType,
    values: choices,
    enumValues: choices,
    hasAssociatedData,
  };
}

/** Says whether values are chosen among `enumValues`. */
function hasChoices(valueType: PropertyValueType): boolean {
  return valueType === "enum" || valueType === "multi-enum";
}

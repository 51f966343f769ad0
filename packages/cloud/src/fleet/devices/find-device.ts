// A selector of one thing is looked up before a list is read. If it does not exist the answer is 404, and a name of several projects is
// 400: an empty list after a typing error looks like lost data, and a file with recordings of two projects looks like one drive.
// `selectors.test.ts` walks every list.

import { type Kysely, sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { DeviceModel } from "../../db/generated/models.ts";
import type { DB } from "../../db/generated/tables.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { onForeignKeyViolation } from "../../db/sql-state.ts";
import type { Transaction } from "../../db/transaction.ts";
import { tenancyOf, visibleIn } from "../../organization/projects/find-project.ts";
import { type Tenancy, within } from "../../organization/projects/scope-sql.ts";

interface DeviceRef {
  readonly nameOrId: string;
  readonly projectId?: string | undefined;
}

/** Finds a device by name or id. A device may be named with another device's id; then the name wins. spec: Endpoints */
export async function findDevice(ctx: Ctx, { nameOrId, projectId }: DeviceRef): Promise<DeviceModel> {
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.device.findMany({
    where: { AND: [where, { OR: [{ name: nameOrId }, { id: nameOrId }] }] },
    take: 3,
  });
  return chooseNamed(rows, nameOrId);
}

/** Chooses among the rows that have a text as their name or id. */
export function chooseNamed<Row extends { readonly name: string }>(rows: readonly Row[], nameOrId: string): Row {
  const named = rows.filter((row) => row.name === nameOrId);
  if (named.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a device named "${nameOrId}"; give projectId`);
  return named[0] ?? rows[0] ?? throwNotFound(`device "${nameOrId}"`);
}

interface DeviceSelector {
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly projectId?: string | undefined;
}

/** Finds the device that a query or body selects, by id or else by name; undefined if it selects none; 404 if the device does not exist. */
export async function selectDevice(ctx: Ctx, selector: DeviceSelector): Promise<DeviceModel | undefined> {
  if (!selector.deviceId && !selector.deviceName) return undefined;
  return (await lookUpDevice(ctx, selector)) ?? throwNotFound(`device "${selector.deviceId || selector.deviceName}"`);
}

/**
 * Does what {@link selectDevice} does, but returns undefined also if no device has the id or the name: lists of import requests know the
 * names of devices that were renamed or deleted.
 */
export async function lookUpDevice(ctx: Ctx, selector: DeviceSelector): Promise<DeviceModel | undefined> {
  const { deviceId, deviceName, projectId } = selector;
  const named = deviceId || deviceName;
  if (!named) return undefined;
  const statement = deviceId ? selectById : selectByName;
  const rows = await statement(ctx.db, { ...tenancyOf(ctx, projectId), named });
  if (rows.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a device named "${deviceName}"; give projectId`);
  if (rows.length === 0) await visibleIn(ctx, projectId); // throws if it is the project that does not exist
  return rows[0] as DeviceModel | undefined;
}

type Named = Parameters<Tenancy & { named: string }>;

const devicesWithin = (db: Kysely<DB>, { orgId, projectIds }: Named) =>
  db
    .selectFrom("Device as d")
    .select(["d.id", "d.orgId", "d.projectId", "d.name", "d.retainRecordingsSeconds", "d.enabled"])
    .select(["d.remoteAccessEnabled", "d.autoDeleteAfterImport", "d.agentSettings", "d.properties"])
    .select(["d.createdAtNs", "d.updatedAtNs"])
    .where(within("d", { orgId, projectIds }));

const selectById = prepare((db, sought: Named) => devicesWithin(db, sought).where("d.id", "=", sought.named));
const selectByName = prepare((db, sought: Named) =>
  devicesWithin(db, sought).where("d.name", "=", sought.named).limit(sql.lit(2)),
);

/** Locks the device and returns it; until the transaction ends, other changes of its settings and properties wait. */
export async function lockDevice(tx: Transaction, id: string): Promise<DeviceModel> {
  await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${id} FOR NO KEY UPDATE`;
  return (await tx.device.findUnique({ where: { id } })) ?? throwNotFound(`device ${id}`);
}

/** Locks the device so that nothing is added to it until the transaction ends. */
export async function lockDeviceToDelete(tx: Transaction, id: string): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT id FROM "Device" WHERE id = ${id} FOR UPDATE`;
  if (locked.length === 0) throwNotFound(`device ${id}`);
}

/** For a `catch`, when something is added to a device that may be deleted at that moment. */
export function deviceGone(id: string | null) {
  return onForeignKeyViolation(() => throwNotFound(`device ${id}`));
}

/** Keeps a device from being deleted until the transaction ends, so that something can be added to it. */
export async function holdDevice(tx: Transaction, id: string): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`SELECT id FROM "Device" WHERE id = ${id} FOR KEY SHARE`;
  if (held.length === 0) throwNotFound(`device ${id}`);
}

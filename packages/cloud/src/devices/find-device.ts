// What names one thing is looked up before a list is read (`selectDevice`, `selectRecording`, `selectSession`,
// `selectSite`): what is not there is 404 and a name of several projects 400, instead of an empty list or a mixture,
// because an empty list after a typing error looks like lost data, and one file of two projects' recordings like one
// drive. `selectors.test.ts` walks every list. Only the requests of imports know names longer than that: those of
// devices that were renamed or deleted, and keys of sessions to come.

import { type Kysely, sql } from "kysely";
import type { Ctx } from "../context/context.ts";
import { ApiError, notFound } from "../core/errors.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import type { DB } from "../db/generated/tables.ts";
import { parameter, prepare } from "../db/prepared.ts";
import { onForeignKeyViolation } from "../db/sql-state.ts";
import type { Transaction } from "../db/transaction.ts";
import { projectsToSee, visibleIn } from "../projects/find-project.ts";
import { inProjects } from "../projects/scope-sql.ts";

interface DeviceRef {
  readonly nameOrId: string;
  readonly projectId?: string | undefined;
}

/** A device may be named with another device's id; then the name wins. spec: Endpoints */
export async function findDevice(ctx: Ctx, { nameOrId, projectId }: DeviceRef): Promise<DeviceModel> {
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.device.findMany({
    where: { AND: [where, { OR: [{ name: nameOrId }, { id: nameOrId }] }] },
    take: 3,
  });
  return chooseNamed(rows, nameOrId);
}

/** Of the devices that have a text as their name or id, the one that is meant. */
export function chooseNamed<Row extends { readonly name: string }>(rows: readonly Row[], nameOrId: string): Row {
  const named = rows.filter((row) => row.name === nameOrId);
  if (named.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a device named "${nameOrId}"; give projectId`);
  return named[0] ?? rows[0] ?? notFound(`device "${nameOrId}"`);
}

interface DeviceSelector {
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly projectId?: string | undefined;
}

/** The device that a query or body selects, by id or else by name; undefined where it selects none; 404 where it does not exist. */
export async function selectDevice(ctx: Ctx, selector: DeviceSelector): Promise<DeviceModel | undefined> {
  if (!selector.deviceId && !selector.deviceName) return undefined;
  return (await lookUpDevice(ctx, selector)) ?? notFound(`device "${selector.deviceId || selector.deviceName}"`);
}

/** As {@link selectDevice}; undefined as well where no device has the id or the name. */
export async function lookUpDevice(ctx: Ctx, selector: DeviceSelector): Promise<DeviceModel | undefined> {
  const { deviceId, deviceName, projectId } = selector;
  const named = deviceId || deviceName;
  if (!named) return undefined;
  const statement = deviceId ? selectById : selectByName;
  const rows = await statement(ctx.db, [ctx.caller.orgId, named, projectsToSee(ctx, projectId)]);
  if (rows.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a device named "${deviceName}"; give projectId`);
  if (rows.length === 0) await visibleIn(ctx, projectId); // which says so where it is the project that is not there
  return rows[0] as DeviceModel | undefined;
}

/** Of an organization ($1), within projects ($3). */
const devicesWithin = (db: Kysely<DB>) =>
  db
    .selectFrom("Device as d")
    .select(["d.id", "d.orgId", "d.projectId", "d.name", "d.retainRecordingsSeconds", "d.enabled"])
    .select(["d.remoteAccessEnabled", "d.autoDeleteAfterImport", "d.agentSettings", "d.properties"])
    .select(["d.createdAtNs", "d.updatedAtNs"])
    .where("d.orgId", "=", parameter<string>(1))
    .where(inProjects("d.projectId", 3));

const selectById = prepare((db) => devicesWithin(db).where("d.id", "=", parameter<string>(2)));
const selectByName = prepare((db) => devicesWithin(db).where("d.name", "=", parameter<string>(2)).limit(sql.lit(2)));

/** The device as it is now; until the transaction ends, other changes of its settings and properties wait. */
export async function lockDevice(tx: Transaction, id: string): Promise<DeviceModel> {
  await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${id} FOR NO KEY UPDATE`;
  return (await tx.device.findUnique({ where: { id } })) ?? notFound(`device ${id}`);
}

/** Nothing is added to the device until the transaction ends. */
export async function lockDeviceToDelete(tx: Transaction, id: string): Promise<void> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT id FROM "Device" WHERE id = ${id} FOR UPDATE`;
  if (locked.length === 0) notFound(`device ${id}`);
}

/** For a `catch`, where something is added to a device that may be deleted at that moment. */
export function deviceGone(id: string | null) {
  return onForeignKeyViolation(() => notFound(`device ${id}`));
}

/** Keeps a device from being deleted until the transaction ends, so that something can be added to it. */
export async function holdDevice(tx: Transaction, id: string): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`SELECT id FROM "Device" WHERE id = ${id} FOR KEY SHARE`;
  if (held.length === 0) notFound(`device ${id}`);
}
